/** Reads `profile.tier` out of nested data; a key that contains the dots itself comes first. */
export function valueAt(data: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(data, path)) {
    return unmarked(data[path]);
  }
  let value: unknown = data;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) {
      return undefined;
    }
    value = unmarked(Reflect.get(value, key));
  }
  return value;
}

// `{ value, persistent: false }` is a value for one send (Custom fields, rule 2).
function unmarked(value: unknown): unknown {
  const isMarked =
    typeof value === 'object' &&
    value !== null &&
    'persistent' in value &&
    value.persistent === false &&
    'value' in value;
  return isMarked ? value.value : value;
}
