import { invalidRequest } from '../errors.js';
import { isBytes, isDate, isPromise, isStream, tagOf, withArticle } from '../values.js';

/** Serializes a body of JSON values. Throws if the text has more than `maxBytes` bytes. */
export function encodeJson(value: unknown, maxBytes?: number): string {
  const text = JSON.stringify(value);
  // A character takes at most three bytes, so only a long text must be encoded to count its bytes.
  if (maxBytes !== undefined && text.length * 3 > maxBytes) {
    const bytes = new TextEncoder().encode(text).length;
    if (bytes > maxBytes) {
      const message = `the whole message takes at most ${toMegabytes(maxBytes)} MB; got ${toMegabytes(bytes)} MB`;
      throw invalidRequest([{ field: '', message }]);
    }
  }
  return text;
}

/**
 * Copies a body into values that JSON can represent: dates as text, the result of `toJSON`, the fields of
 * class instances. A value that JSON would silently change is rejected with its path: NaN would become
 * `null`, which deletes a field of a contact, and a Map would become `{}`.
 */
export function toJsonValue(value: unknown): unknown {
  return copyOf(value, '', []);
}

export function toMegabytes(bytes: number): number {
  return Math.ceil((bytes / (1024 * 1024)) * 100) / 100;
}

/** The objects that contain a value, to detect a value that contains itself. */
type Ancestors = readonly object[];

function copyOf(value: unknown, path: string, above: Ancestors): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? value : refuseValue(path, `must be a number; got ${value}`);
    case 'bigint':
    case 'function':
    case 'symbol':
      return refuseValue(path, `cannot be sent as JSON; got a ${typeof value}`);
    case 'object':
      return value === null ? null : copyOfObject(value, path, above);
    default:
      return value;
  }
}

function copyOfObject(value: object, path: string, above: Ancestors): unknown {
  if (isDate(value)) {
    return Number.isNaN(value.getTime()) ? refuseValue(path, 'is not a date') : value.toISOString();
  }
  if (isBytes(value)) {
    return refuseValue(path, 'cannot be sent as JSON; got bytes: encode them as base64 text');
  }
  if (above.includes(value)) {
    return refuseValue(path, 'refers to itself');
  }
  if (above.length > 100) {
    return refuseValue(path, 'is nested too deeply');
  }
  const below = [...above, value];
  const { toJSON } = value as { toJSON?: unknown }; // as: an object
  if (typeof toJSON === 'function') {
    return copyOf(toJSON.call(value, fieldNameOf(path)), path, below);
  }
  return Array.isArray(value) ? copyOfList(value, path, below) : copyOfFields(value, path, below);
}

function copyOfList(list: readonly unknown[], path: string, above: Ancestors): unknown[] {
  // Array.from also visits the holes of a sparse array.
  return Array.from(list, (item, index) =>
    item === undefined
      ? refuseValue(`${path}[${index}]`, 'must not be undefined in a list')
      : copyOf(item, `${path}[${index}]`, above),
  );
}

function copyOfFields(value: object, path: string, above: Ancestors): unknown {
  const entries = Object.entries(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  const tag = tagOf(value);
  // An empty object that is not plain is rejected, because its contents are not in fields. Plain objects of other
  // realms are recognized as well.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (isPromise(value)) {
    return refuseValue(path, 'cannot be sent as JSON; got a Promise: `await` it first');
  }
  if (isStream(value)) {
    return refuseValue(path, 'cannot be sent as JSON; got a stream: read it to its end first');
  }
  if (unsendableTags.has(tag) || (!isPlain && entries.length === 0)) {
    const hint = tag === 'AbortSignal' ? ': pass it after the fields, as in `{ signal }`' : '';
    return refuseValue(path, `cannot be sent as JSON; got ${withArticle(tag)}${hint}`);
  }
  // Keep fields whose value is `undefined`: they were probably set by accident, so a check may reject them.
  return Object.fromEntries(
    entries.map(([name, item]) => [
      name,
      copyOf(item, path === '' ? name : `${path}.${name}`, above),
    ]),
  );
}

// These objects may have fields, but their contents are not in the fields.
const unsendableTags: ReadonlySet<string> = new Set([
  ...['Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'RegExp', 'Error', 'FormData'],
  ...['Number', 'String', 'Boolean', 'Symbol', 'BigInt'],
]);

function refuseValue(path: string, message: string): never {
  throw invalidRequest([{ field: path === '' ? 'body' : path, message }]);
}

// The name that JSON.stringify passes to `toJSON`.
function fieldNameOf(path: string): string {
  return /[^.[\]]*(?=\]?$)/.exec(path)?.[0] ?? '';
}
