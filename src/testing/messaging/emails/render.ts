/**
 * Fills `{{plan}}`, `{{name ?? "default"}}` and `{{profile.tier}}` (messaging, Custom fields 7).
 * A field that is missing or null, without a default, becomes an empty text (not shown).
 */
export function render(text: string, variables: Readonly<Record<string, unknown>>): string {
  return text.replace(variable, (_match, path: string, double?: string, single?: string) =>
    show(valueAt(variables, path) ?? double ?? single ?? ''),
  );
}

const variable = /{{\s*([^\s{}?]+(?: +[^\s{}?]+)*)\s*(?:\?\?\s*(?:"([^"]*)"|'([^']*)')\s*)?}}/g;

/** A key with a dot in its name wins over a nested field. */
function valueAt(variables: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(variables, path)) {
    return variables[path];
  }
  let value: unknown = variables;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) {
      return undefined;
    }
    value = Reflect.get(value, key);
  }
  return value;
}

/** An object or a list has no text of its own: it is shown as JSON. */
function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
