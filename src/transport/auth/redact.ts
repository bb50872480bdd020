// Deeper and larger than any fault that a runtime reports.
const deepest = 8;
const mostValues = 500;
const shapes = /\b(sk|pk)_[A-Za-z0-9_-]{3,}/g;
// Not the placeholder of a hint: `Authorization: Bearer <key>`.
const bearer = /\bBearer\s+(?![<{[])[^\s"'`,;]+/gi;

/** Takes every API key out of a text that somebody else wrote, such as an error body. */
export function redact(text: string, key: string | null): string {
  const known = key === null || key.length < 4 ? text : text.replaceAll(key, '[key]');
  return known.replace(bearer, 'Bearer [key]').replace(shapes, '$1_[key]');
}

/**
 * The cause of an error of ours, fit to be printed. A fault comes out as it went in, unless it
 * holds the key or the request that carried it: then as a copy of what can be read in it.
 */
export function cleanCause(fault: unknown, ...secrets: readonly (string | null | undefined)[]) {
  const known = secrets.filter((secret) => typeof secret === 'string');
  return holds(fault, known, new Set()) ? copyOf(fault, known, 0) : fault;
}

function holds(value: unknown, secrets: readonly string[], seen: Set<unknown>): boolean {
  if (typeof value === 'string') {
    return secrets.some((secret) => value.includes(secret));
  }
  if (typeof value !== 'object' || value === null || seen.has(value)) {
    return false;
  }
  if (value instanceof Request || value instanceof Headers) {
    return true;
  }
  if (seen.size >= mostValues) {
    return true; // what cannot be looked through is not passed on
  }
  seen.add(value);
  return Reflect.ownKeys(value).some((name) => holds(valueOf(value, name), secrets, seen));
}

function valueOf(owner: object, name: PropertyKey): unknown {
  const own = Object.getOwnPropertyDescriptor(owner, name);
  return own && 'value' in own ? own.value : undefined;
}

function copyOf(fault: unknown, secrets: readonly string[], depth: number): unknown {
  if (!(fault instanceof Error) || depth >= deepest) {
    return undefined;
  }
  const cause = copyOf(fault.cause, secrets, depth + 1);
  const clean = (text: string) =>
    [...secrets, null].reduce((words: string, secret) => redact(words, secret), text);
  const copy = new Error(clean(fault.message), cause === undefined ? {} : { cause });
  copy.name = fault.name;
  if (fault.stack !== undefined) {
    copy.stack = clean(fault.stack);
  }
  const { code } = fault as { code?: unknown }; // Node's faults have one
  return typeof code === 'string' ? Object.assign(copy, { code: clean(code) }) : copy;
}
