import { invalidRequest } from '../errors.js';
import { toMegabytes } from './body.js';
import type { MultipartBody, UploadFacts } from './route.js';
import {
  isBytes,
  isPromise,
  isStream,
  tagOf,
  withArticle,
  type FileInput,
  type NamedFile,
} from '../values.js';

/**
 * A multipart body with one file, built here instead of by a `FormData`: the `fetch` of the undici package
 * does not recognize Node's `FormData`, which also takes several times the memory of the file.
 */
export function encodeFile(file: FileInput, facts: UploadFacts): MultipartBody {
  const { data, filename, contentType, field } = partOf(file, facts);
  refuseTooLarge(data.size, facts);
  const encoder = new TextEncoder(); // some test runners have no TextEncoder, and need none without an upload
  const boundary = `postreel-${crypto.randomUUID()}`;
  const head = encoder.encode(
    `--${boundary}\r\n` +
      `Content-Disposition: form-data; name="${escapeName(field)}"; filename="${escapeName(filename)}"\r\n` +
      `Content-Type: ${escapeName(contentType)}\r\n\r\n`,
  );
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  return {
    content: new Blob([head, ...piecesOf(data), tail]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

/** Is this a `FormData` of this runtime, of another realm or of a package? */
export function isForm(value: unknown): value is Iterable<[string, unknown]> {
  return tagOf(value) === 'FormData' && Symbol.iterator in (value as object); // as: its tag says so
}

/**
 * Serializes a whole form. It is built here, because a `fetch` does not recognize the `FormData` of another
 * realm.
 */
export function encodeForm(form: Iterable<[string, unknown]>): MultipartBody {
  const boundary = `postreel-${crypto.randomUUID()}`;
  const pieces = [...form].flatMap(([name, value]): BlobPart[] => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`;
    if (typeof value === 'string') {
      return [`${head}\r\n\r\n${value.replace(/\r?\n|\r/g, '\r\n')}\r\n`];
    }
    if (!(value instanceof Blob)) {
      const message =
        'must be a string or a `Blob`. The `File` of node-fetch is neither: use the global `File`';
      throw invalidRequest([{ field: `body.${name}`, message }]);
    }
    const type = escapeName(value.type || 'application/octet-stream');
    const filename = escapeName(nameOf(value) ?? 'blob');
    return [`${head}; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n`, value, '\r\n'];
  });
  return {
    content: new Blob([...pieces, `--${boundary}--\r\n`]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

function refuseTooLarge(size: number, { maxBytes, field }: UploadFacts): void {
  if (maxBytes !== undefined && size > maxBytes) {
    const message = `must be at most ${toMegabytes(maxBytes)} MB; got ${toMegabytes(size)} MB`;
    throw invalidRequest([{ field, message }]);
  }
}

// Escapes names as forms do (HTML, "Multipart form data").
function escapeName(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

const pieceBytes = 64 * 1024;

/**
 * The same bytes in pieces, not copied. While Node sends a body of one piece, it holds the body in memory
 * three more times.
 */
function piecesOf(blob: Blob): Blob[] {
  const pieces: Blob[] = [];
  for (let start = 0; start < blob.size; start += pieceBytes) {
    pieces.push(blob.slice(start, start + pieceBytes));
  }
  return pieces;
}

/** The only part of a multipart body. */
interface FilePart {
  readonly data: Blob;
  readonly filename: string;
  readonly contentType: string;
  readonly field: string;
}

function partOf(file: FileInput, facts: UploadFacts): FilePart {
  const named: NamedFile = isNamedFile(file) ? file : { data: file };
  const { contentType, filename, fieldName } = named;
  const data = blobOf(named.data, isNamedFile(file), facts);
  return {
    data,
    contentType: (contentType ?? data.type) || facts.contentType,
    filename: filename ?? nameOf(named.data) ?? facts.filename,
    field: fieldName ?? facts.field,
  };
}

/** The content of a file. Bytes are copied, because a caller may change them while the file is being sent. */
function blobOf(data: unknown, isNamed: boolean, { field, takesText }: UploadFacts): Blob {
  if (data instanceof Blob) {
    return data;
  }
  if (isBytes(data) || (isNamed && takesText && typeof data === 'string')) {
    return new Blob([data as BlobPart]); // as: bytes of any buffer
  }
  const [name, forms] = isNamed
    ? [`${field}.data`, takesText ? 'a File, a Blob, bytes or text' : 'a File, a Blob or bytes']
    : [field, 'a File, a Blob, bytes or { data, filename, contentType }'];
  throw invalidRequest([{ field: name, message: `must be ${forms}; got ${fileKindOf(data)}` }]);
}

function fileKindOf(data: unknown): string {
  if (typeof data === 'string') {
    return 'a text: for a path use `csvFile()` or `imageFile()` of postreel/node';
  }
  if (data === undefined || data === null) {
    return String(data);
  }
  if (isPromise(data)) {
    return 'a promise: `await` it first';
  }
  if (isStream(data)) {
    return 'a stream: read it to its end first; `contacts.importAll()` takes a stream of CSV';
  }
  return Array.isArray(data)
    ? 'a list: `contacts.importAll()` takes rows'
    : withArticle(tagOf(data).toLowerCase());
}

function isNamedFile(file: FileInput): file is NamedFile {
  return typeof file === 'object' && (file as unknown) !== null && 'data' in file;
}

function nameOf(value: unknown): string | undefined {
  return typeof File !== 'undefined' && value instanceof File ? value.name : undefined;
}
