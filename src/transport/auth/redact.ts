// Deeper and larger than any fault that a runtime reports.
const deepest = 8;
const mostValues = 500;
const shapes = /\b(sk|pk)_[A-Za-z0-9_-]{3,}/g;
const bearer = /\bBearer\s+[^\s"',;]+/gi;

/** Takes every API key out of a text that somebody else wrote, such as an error body. */
export function redact(text: string, key: string | null): string {
  const known = key === null || key.length < 4 ? text : text.replaceAll(key, '[key]');
  return known.replace(bearer, 'Bearer [key]').replace(shapes, '$1_[key]');
}

/**
 * The cause of an error of ours, fit to be printed. A fault comes out as it went in, unless it
 * holds the key or the request that carried it: then as a copy of what can be read in it.
 */
export function cleanCause(fault: unknown, key: string | null): unknown {
  if (key === null || !holds(fault, key, new Set())) {
    return fault;
  }
  return copyOf(fault, key, 0);
}

function holds(value: unknown, key: string, seen: Set<unknown>): boolean {
  if (typeof value === 'string') {
    return value.includes(key);
  }
  if (typeof value !== 'object' || value === null || seen.has(value)) {
    return false;
  }
  if (value instanceof Request || value instanceof Headers) {
    return true;
  }
  if (seen.size >= mostValues) {
    return true;
  } // what cannot be looked through is not passed on
  seen.add(value);
  return Reflect.ownKeys(value).some((name) => holds(valueOf(value, name), key, seen));
}

function valueOf(owner: object, name: PropertyKey): unknown {
  const own = Object.getOwnPropertyDescriptor(owner, name);
  return own && 'value' in own ? own.value : undefined;
}

function copyOf(fault: unknown, key: string, depth: number): unknown {
  if (!(fault instanceof Error) || depth >= deepest) {
    return undefined;
  }
  const cause = copyOf(fault.cause, key, depth + 1);
  const copy = new Error(redact(fault.message, key), cause === undefined ? {} : { cause });
  copy.name = fault.name;
  if (fault.stack !== undefined) {
    copy.stack = redact(fault.stack, key);
  }
  const { code } = fault as { code?: unknown }; // Node's faults have one
  return typeof code === 'string' ? Object.assign(copy, { code: redact(code, key) }) : copy;
}
