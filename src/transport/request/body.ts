import type { FileInput, NamedFile } from '../../contract/records.js';
import type { UploadFacts } from '../../contract/route.js';
import { refuse } from '../../errors/client-errors.js';

/** A request body as JSON. What JSON would change in silence is refused instead. */
export function jsonBody(value: unknown, maxBytes?: number): string {
  const problem = findUnsendable(value, '', []);
  if (problem) {
    throw refuse([problem]);
  }
  const text = JSON.stringify(value);
  // A character takes at most three bytes: only a long text needs to be counted.
  if (maxBytes !== undefined && text.length * 3 > maxBytes) {
    const bytes = new TextEncoder().encode(text).length;
    if (bytes > maxBytes) {
      const message = `the whole message takes at most ${megabytes(maxBytes)} MB; got ${megabytes(bytes)} MB`;
      throw refuse([{ field: '', message }]);
    }
  }
  return text;
}

/** A multipart body with one file in it. Its content type is left to `fetch`: it sets the boundary. */
export function multipartBody(file: FileInput, facts: UploadFacts): FormData {
  const { blob, filename } = asBlob(file, facts);
  if (facts.maxBytes !== undefined && blob.size > facts.maxBytes) {
    const message = `must be at most ${megabytes(facts.maxBytes)} MB; got ${megabytes(blob.size)} MB`;
    throw refuse([{ field: facts.field, message }]);
  }
  const form = new FormData();
  form.append(isNamedFile(file) ? (file.fieldName ?? facts.field) : facts.field, blob, filename);
  return form;
}

function asBlob(file: FileInput, facts: UploadFacts): { blob: Blob; filename: string } {
  if (isNamedFile(file)) {
    const type = file.contentType ?? (file.data instanceof Blob ? file.data.type : '');
    const blob = new Blob([file.data as BlobPart], { type: type || facts.contentType }); // bytes on any buffer
    return { blob, filename: file.filename ?? nameOf(file.data) ?? facts.filename };
  }
  if (file instanceof Blob) {
    const blob = file.type === '' ? new Blob([file], { type: facts.contentType }) : file;
    return { blob, filename: nameOf(file) ?? facts.filename };
  }
  if (file instanceof ArrayBuffer || ArrayBuffer.isView(file)) {
    const blob = new Blob([file as BlobPart], { type: facts.contentType }); // bytes on any buffer
    return { blob, filename: facts.filename };
  }
  const message = 'must be a File, a Blob, bytes or { data, filename, contentType }';
  throw refuse([{ field: facts.field, message }]);
}

function isNamedFile(file: FileInput): file is NamedFile {
  return typeof file === 'object' && (file as unknown) !== null && 'data' in file;
}

function nameOf(value: unknown): string | undefined {
  return typeof File !== 'undefined' && value instanceof File ? value.name : undefined;
}

// JSON turns NaN and invalid dates into null, and null deletes a contact's field.
function findUnsendable(
  value: unknown,
  path: string,
  above: readonly object[],
): { field: string; message: string } | undefined {
  const field = path === '' ? 'body' : path;
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value)
        ? undefined
        : { field, message: `must be a number; got ${value}` };
    case 'bigint':
    case 'function':
    case 'symbol':
      return { field, message: `cannot be sent as JSON; got a ${typeof value}` };
    case 'object':
      return value === null ? undefined : findInObject(value, path, above);
    default:
      return undefined;
  }
}

function findInObject(
  value: object,
  path: string,
  above: readonly object[],
): { field: string; message: string } | undefined {
  const field = path === '' ? 'body' : path;
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? { field, message: 'is not a date' } : undefined;
  }
  if (above.includes(value)) {
    return { field, message: 'refers to itself' };
  }
  if (above.length > 100) {
    return { field, message: 'is nested too deeply' };
  }
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? (value as unknown[]).map((item, index) => [index, item])
    : Object.entries(value);
  for (const [key, item] of entries) {
    const below =
      typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    const problem = findUnsendable(item, below, [...above, value]);
    if (problem) {
      return problem;
    }
  }
  return undefined;
}

function megabytes(bytes: number): number {
  return Math.ceil((bytes / (1024 * 1024)) * 100) / 100;
}
