/** A copy of a JSON value with each text, number, boolean and null replaced; items have the name of their list. */
export function mapJson(
  value: unknown,
  change: (leaf: unknown, name: string) => unknown,
  name = '',
): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown) => mapJson(item, change, name));
  }
  if (typeof value !== 'object' || value === null) {
    return change(value, name);
  }
  const entries = Object.entries(value).map(([key, part]) => [key, mapJson(part, change, key)]);
  return Object.fromEntries(entries);
}

/** The value as it would come out of JSON: without `undefined`, with instances as plain objects. */
export function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Is this an object with fields? */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
