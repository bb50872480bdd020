/** The values that callers pass and responses hold: their types, and how to recognize them. */

/**
 * A record whose fields the documents do not show. You can augment the interfaces that extend it by
 * declaration merging.
 */
export interface OpenRecord {
  [field: string]: unknown;
}

/** Excludes objects without fields: arrays, functions, dates, maps, sets and promises. */
// An alias, because it has no public name: users' declarations contain its definition.
type NoContainer = {
  readonly [Symbol.iterator]?: never;
  readonly bind?: never;
  readonly getTime?: never;
  readonly then?: never;
};

/** Any object with fields: a literal, or a value of an interface or a class. */
export type FieldObject = object & NoContainer;

/**
 * A request body whose fields the documents do not show completely. It also accepts objects typed by an
 * interface or a class of yours. You can augment the interfaces that extend it.
 */
export interface OpenInput extends NoContainer {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- of all types only `any` lets interfaces in
  [field: string]: any;
}

/** A point in time: a `Date`, or a full ISO 8601 string such as `2026-11-21T09:30:00.000Z`. */
export type Timestamp = Date | string;

/** A file to upload: one that has a name, or bytes with a separate name. */
export type FileInput = File | Blob | Uint8Array | ArrayBuffer | NamedFile;

/** Bytes or text, with the name and type that an upload needs. */
export interface NamedFile {
  data: Blob | Uint8Array | ArrayBuffer | string;
  filename?: string | undefined;
  contentType?: string | undefined;
  /** The name of the form field; the service's document does not state it. */
  fieldName?: string | undefined;
}

/** A response that only confirms success; the documents do not show its fields. */
export interface Acknowledgement extends OpenRecord {
  success?: boolean | undefined;
}

/** Is this an object with fields, not an array and not `null`? */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The kind of a value by its tag, e.g. `Date`: test runners and frames have other classes with the same tag.
 */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** The kind of a wrong value for an error message, with a hint if the value is a promise. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  if (Array.isArray(value)) {
    return 'a list';
  }
  if (typeof value === 'object') {
    return isPromise(value) ? 'a promise: `await` it first' : 'an object';
  }
  return `a ${typeof value}`;
}

/** A noun with its article: `an object`, `a string`. */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** Is this a `Date`? Also true for a date of another realm, such as that of a test or a frame. */
export function isDate(value: unknown): value is Date {
  return tagOf(value) === 'Date';
}

/** Is this a promise of any library? */
export function isPromise(value: unknown): boolean {
  return isRecord(value) && typeof value['then'] === 'function';
}

/** Is this a stream of Node or of the web? A blob has a stream, but is not one. */
export function isStream(value: unknown): boolean {
  return (
    isRecord(value) &&
    (typeof value['pipe'] === 'function' || typeof value['getReader'] === 'function')
  );
}

/**
 * `Uint8Array<ArrayBuffer>`, in a form that TypeScript before 5.7 understands: there the type is not
 * generic.
 */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

/** Is this an `ArrayBuffer` or a view of one? Also true for those of another realm. */
export function isBytes(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(value) || tagOf(value) === 'ArrayBuffer';
}
