/**
 * A record whose fields the documents do not show. Interfaces that extend it can be augmented
 * by declaration merging.
 */
export interface OpenRecord {
  [field: string]: unknown;
}

/** Keeps out what is no object of fields: arrays, functions, dates, maps, sets and promises. */
export interface NoContainer {
  readonly [Symbol.iterator]?: never;
  readonly bind?: never;
  readonly getTime?: never;
  readonly then?: never;
}

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

/** A file to upload: with a name of its own, or as bytes with a name beside them. */
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

/** Is this a `Date`, also one of another realm, such as a test's or a frame's? */
export function isDate(value: unknown): value is Date {
  return Object.prototype.toString.call(value) === '[object Date]';
}

/** `Uint8Array<ArrayBuffer>`, in words that TypeScript before 5.7 reads too: there it is no generic. */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

/** Is this an `ArrayBuffer` or a view of one, also of another realm? */
export function isBytes(value: unknown): value is ArrayBuffer | ArrayBufferView {
  const tag = Object.prototype.toString.call(value);
  return ArrayBuffer.isView(value) || tag === '[object ArrayBuffer]';
}
