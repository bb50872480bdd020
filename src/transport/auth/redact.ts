// Deeper and larger than any fault that a runtime reports.
const maxDepth = 8;
const maxValues = 500;
const maxText = 20_000;
const keyShapes = /\b(sk|pk)_[A-Za-z0-9_-]{3,}/g;
// Not the placeholder of a hint: `Authorization: Bearer <key>`.
const bearer = /\bBearer\s+(?![<{[])[^\s"'`,;]+/gi;
// The query of a signed address gives access to a file by itself.
const signedQuery =
  /([?&](?:[\w-]*(?:signature|token|credential|expires|policy|key-pair-id)|sig|se|sp)=)[^&\s"'`<>#]+/gi;

/** What no text of others may repeat: the key of a call, its cookie, the passwords that it sends. */
export type Secrets = readonly (string | null | undefined)[];

/** Takes every secret out of a text that is not ours, such as an error body. */
export function redact(text: string, secrets: Secrets): string {
  const known = secrets.filter(isLongEnough).flatMap((secret) => [secret, encoded(secret)]);
  const without = known.reduce((words, secret) => words.replaceAll(secret, '[key]'), text);
  return without
    .replace(bearer, 'Bearer [key]')
    .replace(keyShapes, '$1_[key]')
    .replace(signedQuery, '$1[key]');
}

/**
 * The cause of an error of ours, fit to be printed. Errors and plain data without secrets come out as
 * they are. Of others a copy comes out: what is neither, such as the request of another library,
 * becomes its name; accessors are not read, and nothing prints itself.
 */
export function cleanCause(fault: unknown, ...secrets: Secrets): unknown {
  const terms = { secrets, seen: new Map<object, unknown>(), left: maxValues };
  try {
    return isHarmless(fault, secrets, new Set()) ? fault : copyOf(fault, terms, 0);
  } catch {
    return '[unreadable]'; // a proxy may throw whatever is asked of it
  }
}

const inspectCustom = Symbol.for('nodejs.util.inspect.custom');

function isHarmless(value: unknown, secrets: Secrets, seen: Set<object>): boolean {
  if (typeof value === 'string') {
    return redact(value, secrets) === value;
  }
  if (typeof value !== 'object' || value === null) {
    return typeof value !== 'function' && typeof value !== 'symbol';
  }
  if (seen.has(value)) {
    return true;
  }
  const isKnown = value instanceof Error || Array.isArray(value) || isPlain(value);
  if (!isKnown || inspectCustom in value || 'toJSON' in value || seen.size >= maxValues) {
    return false;
  }
  seen.add(value);
  return Reflect.ownKeys(value).every((name) => {
    const field = Object.getOwnPropertyDescriptor(value, name);
    const isNamed = typeof name === 'symbol' || redact(name, secrets) === name;
    // The stack is an accessor in newer engines.
    const stored: unknown = name === 'stack' ? Reflect.get(value, name) : field?.value;
    const isStored = name === 'stack' || (field !== undefined && 'value' in field);
    return isNamed && isStored && isHarmless(stored, secrets, seen);
  });
}

// Of another realm too: its prototype is the end of a chain.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isLast = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isLast && Object.prototype.toString.call(value) === '[object Object]';
}

interface CopyTerms {
  readonly secrets: Secrets;
  readonly seen: Map<object, unknown>;
  left: number;
}

function copyOf(value: unknown, terms: CopyTerms, depth: number): unknown {
  if (typeof value === 'string') {
    return redact(value.slice(0, maxText), terms.secrets);
  }
  if (typeof value === 'function' || typeof value === 'symbol') {
    return `[${typeof value}]`;
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (terms.seen.has(value)) {
    return terms.seen.get(value);
  }
  if (depth >= maxDepth || terms.left <= 0) {
    return '…';
  }
  terms.left -= 1;
  return copyOfObject(value, terms, depth);
}

function copyOfObject(value: object, terms: CopyTerms, depth: number): unknown {
  if (value instanceof Error) {
    return copyOfError(value, terms, depth);
  }
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    terms.seen.set(value, list);
    list.push(...value.map((item: unknown) => copyOf(item, terms, depth + 1)));
    return list;
  }
  if (!isPlain(value)) {
    return `[${nameOf(value)}]`;
  }
  const record = {};
  terms.seen.set(value, record);
  return withFields(record, value, terms, depth);
}

// A real error of this realm, so that `instanceof Error` and consoles recognise it.
function copyOfError(fault: Error, terms: CopyTerms, depth: number): Error {
  const { secrets } = terms;
  const Kind = kinds.find((kind) => fault instanceof kind) ?? Error;
  const copy = new Kind(redact(textOf(fault, 'message'), secrets));
  terms.seen.set(fault, copy);
  copy.name = redact(textOf(fault, 'name') || 'Error', secrets);
  copy.stack = redact(textOf(fault, 'stack'), secrets) || `${copy.name}: ${copy.message}`;
  return withFields(copy, fault, terms, depth);
}

const kinds = [TypeError, RangeError, SyntaxError, ReferenceError];
const ownToError: ReadonlySet<string> = new Set(['name', 'message', 'stack', 'toJSON']);

// Only what is stored: an accessor may make what it gives out of a secret.
function withFields<Copy extends object>(
  copy: Copy,
  original: object,
  terms: CopyTerms,
  depth: number,
): Copy {
  for (const [name, field] of Object.entries(Object.getOwnPropertyDescriptors(original))) {
    if ('value' in field && !ownToError.has(name) && typeof field.value !== 'function') {
      const value = copyOf(field.value, terms, depth + 1);
      Object.defineProperty(copy, redact(name, terms.secrets), { ...field, value });
    }
  }
  return copy;
}

// `name` stands on the prototype, `stack` may be an accessor of the engine.
function textOf(fault: Error, name: 'name' | 'message' | 'stack'): string {
  const value: unknown = Reflect.get(fault, name);
  return typeof value === 'string' ? value.slice(0, maxText) : '';
}

function nameOf(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  const { constructor: made } = prototype as { constructor?: { name?: unknown } }; // of any class
  const name = made?.name;
  return typeof name === 'string' && /^\w{1,40}$/.test(name) ? name : 'object';
}

// In an address.
function encoded(secret: string): string {
  return new URLSearchParams({ '': secret }).toString().slice(1).replaceAll('+', '%20');
}

// A short secret would take letters out of every word.
function isLongEnough(secret: string | null | undefined): secret is string {
  return typeof secret === 'string' && secret.length >= 4;
}
