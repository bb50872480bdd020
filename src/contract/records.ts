/**
 * A record whose fields the documents do not show. Interfaces that extend it can be augmented
 * by declaration merging.
 */
export interface OpenRecord {
  [field: string]: unknown;
}

/** A point in time: a `Date`, or a full ISO 8601 string such as `2026-11-21T09:30:00.000Z`. */
export type Timestamp = Date | string;

/** A file to upload: with a name of its own, or as bytes with a name beside them. */
export type FileInput = File | Blob | Uint8Array | ArrayBuffer | NamedFile;

/** Bytes or text with what an upload needs to know about them. */
export interface NamedFile {
  data: Blob | Uint8Array | ArrayBuffer | string;
  filename?: string | undefined;
  contentType?: string | undefined;
  /** The name of the form field; the service's document does not give it. */
  fieldName?: string | undefined;
}

/** What the service says when it has nothing to say; its fields are not shown in the documents. */
export interface Acknowledgement extends OpenRecord {
  success?: boolean | undefined;
}

/** Is this an object with fields, not an array and not `null`? */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
