import { invalidRequest } from './errors.js';
/**
 * A record whose fields the documents do not show. Interfaces that extend it can be augmented
 * by declaration merging.
 */
export interface OpenRecord {
  [field: string]: unknown;
}

/** Keeps out what is no object of fields: arrays, functions, dates, maps, sets and promises. */
// An alias, since it has no public name: the declarations of a user spell it out.
type NoContainer = {
  readonly [Symbol.iterator]?: never;
  readonly bind?: never;
  readonly getTime?: never;
  readonly then?: never;
};

/** Any object of fields: a literal, or one that an interface or a class describes. */
export type FieldObject = object & NoContainer;

/**
 * A request body whose fields the documents do not show completely. It takes objects that are typed
 * by an interface or a class of yours too. Interfaces that extend it can be augmented.
 */
export interface OpenInput extends NoContainer {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- of all types only `any` lets interfaces in
  [field: string]: any;
}

/** A point in time: a `Date`, or a full ISO 8601 string such as `2026-11-21T09:30:00.000Z`. */
export type Timestamp = Date | string;

/** A file to upload: with its name, or as bytes with a name next to them. */
export type FileInput = File | Blob | Uint8Array | ArrayBuffer | NamedFile;

/** Bytes or text with what an upload needs. */
export interface NamedFile {
  data: Blob | Uint8Array | ArrayBuffer | string;
  filename?: string | undefined;
  contentType?: string | undefined;
  /** The name of the form field; the service's document does not give it. */
  fieldName?: string | undefined;
}

/** An answer without content of its own; its fields are not shown in the documents. */
export interface Acknowledgement extends OpenRecord {
  success?: boolean | undefined;
}

/** Is this an object with fields, not an array and not `null`? */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a value is, by its mark, e.g. `Date`: in test runners and frames the classes are others. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** A noun with its article: `an object`, `a string`. */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** Is this a `Date`, also one of another realm, such as a test's or a frame's? */
export function isDate(value: unknown): value is Date {
  return tagOf(value) === 'Date';
}

/** Is this a promise, of any library? */
export function isPromise(value: unknown): boolean {
  return isRecord(value) && typeof value['then'] === 'function';
}

/** Is this a stream, of Node or of the web? A blob has a stream, and is not one. */
export function isStream(value: unknown): boolean {
  return (
    isRecord(value) &&
    (typeof value['pipe'] === 'function' || typeof value['getReader'] === 'function')
  );
}

/** `Uint8Array<ArrayBuffer>`, in words that TypeScript before 5.7 reads too: there it is no generic. */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

/** Is this an `ArrayBuffer` or a view of one, also of another realm? */
export function isBytes(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(value) || tagOf(value) === 'ArrayBuffer';
}

/** Does a field of this name hold an id, or ids? */
export function isIdName(name: string): boolean {
  return idNames.test(name);
}

// The last ones are the fields of answers in which the documents show ids under other names.
const idNames = /^ids?$|_ids?$|[a-z]Ids?$|^(filesCreated|files|contact|event|email|job|cursor)$/;

/** Is this a number that an id may be? A larger one stands for several. */
export function isIdNumber(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** What an id must be, for the sentence that refuses another value. */
export const notAnId = 'must be a string, or a whole number from 0 to 2^53 - 1';

/** Refuses what is no id of the media service, whose ids are texts. */
export function requireTextId(field: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value === '') {
    throw invalidRequest([{ field, message: 'must be an id, as a string' }]);
  }
}

/**
 * Parses JSON without rounding ids: a number that JavaScript cannot hold, and an id beyond 2^53, become
 * the text of their digits. A number that stays a number is the one that was written.
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(longDigits.test(text) ? withDigitsAsText(text) : text) as unknown;
}

// Most answers have none, and are parsed as they are. Spelt out: V8 takes eight times as long for `{16}`.
const longDigits = new RegExp(String.raw`\d`.repeat(16));
// An escape, the end of a text, or a number of many digits. Fractions are measures, and no ids.
const tokens = /\\.|"|-?\d{16,}[\d.eE+-]*/gs;
const integer = /^-?\d+$/;

function withDigitsAsText(text: string): string {
  let start: number | undefined; // of the text that the place is in
  let name = '';
  return text.replace(tokens, (token, offset: number) => {
    if (token === '"') {
      name = start !== undefined && isName(text, offset + 1) ? text.slice(start, offset) : name;
      start = start === undefined ? offset + 1 : undefined;
      return token;
    }
    const isPart = start !== undefined || /[\d.eE+-]/.test(text[offset - 1] ?? '');
    return isPart || !integer.test(token) || isHeld(token, name) ? token : `"${token}"`;
  });
}

function isName(text: string, end: number): boolean {
  const colon = /\s*:/y;
  colon.lastIndex = end;
  return colon.test(text);
}

function isHeld(digits: string, name: string): boolean {
  const number = Number(digits);
  // A list of bare ids is the whole answer, or its `data`.
  const mayBeId = isIdName(name) || name === '' || name === 'data';
  return Number.isSafeInteger(number) || (String(number) === digits && !mayBeId);
}
/**
 * A short name for a text that does not give the text away. Not a cryptographic hash: it tells
 * apart what one project has, nothing more.
 */
export function fingerprint(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return hex(high) + hex(low);
}

function hex(number: number): string {
  return (number >>> 0).toString(16).padStart(8, '0');
}
/** A variable of the environment, where there is one and it may be read; an empty one is none. */
export function environment(name: string): string | undefined {
  const { process, Deno } = globalThis as {
    process?: { env?: Record<string, string | undefined> };
    Deno?: { permissions?: { querySync?: (what: object) => { state: string } } };
  };
  try {
    // Deno would ask the person at the terminal.
    const permission = Deno?.permissions?.querySync?.({ name: 'env', variable: name });
    const value = (permission?.state ?? 'granted') === 'granted' ? process?.env?.[name] : undefined;
    return value === '' ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Does this name of a host stay on the machine? */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
