import { invalidRequest } from './errors.js';
import { megabytes } from './body.js';
import type { MultipartBody, UploadFacts } from './route.js';
import { isBytes, tagOf, type FileInput, type NamedFile } from './values.js';

/**
 * A multipart body with one file in it, written here and not left to a `FormData`: that of Node means
 * nothing to the `fetch` of the undici package, and takes several times the memory of the file.
 */
export function multipartBody(file: FileInput, facts: UploadFacts): MultipartBody {
  const { data, filename, contentType, field } = partOf(file, facts);
  refuseTooLarge(data.size, facts);
  const encoder = new TextEncoder(); // not every test runner has one where nothing is uploaded
  const boundary = `postreel-${crypto.randomUUID()}`;
  const head = encoder.encode(
    `--${boundary}\r\n` +
      `Content-Disposition: form-data; name="${escaped(field)}"; filename="${escaped(filename)}"\r\n` +
      `Content-Type: ${escaped(contentType)}\r\n\r\n`,
  );
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  return {
    content: new Blob([head, ...piecesOf(data), tail]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

/** Is this a `FormData`, of this runtime, of another realm or of a package? */
export function isForm(value: unknown): value is Iterable<[string, unknown]> {
  return tagOf(value) === 'FormData' && Symbol.iterator in (value as object); // its tag says so
}

/** A whole form, written here for the same reason: the class of one realm means nothing to another's `fetch`. */
export function formBody(form: Iterable<[string, unknown]>): MultipartBody {
  const boundary = `postreel-${crypto.randomUUID()}`;
  const pieces = [...form].flatMap(([name, value]): BlobPart[] => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`;
    if (typeof value === 'string') {
      return [`${head}\r\n\r\n${value.replace(/\r?\n|\r/g, '\r\n')}\r\n`];
    }
    if (!(value instanceof Blob)) {
      const message = 'must be a text or a Blob: node-fetch has files of its own';
      throw invalidRequest([{ field: `body.${name}`, message }]);
    }
    const type = escaped(value.type || 'application/octet-stream');
    const filename = escaped(nameOf(value) ?? 'blob');
    return [`${head}; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n`, value, '\r\n'];
  });
  return {
    content: new Blob([...pieces, `--${boundary}--\r\n`]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

function refuseTooLarge(size: number, { maxBytes, field }: UploadFacts): void {
  if (maxBytes !== undefined && size > maxBytes) {
    const message = `must be at most ${megabytes(maxBytes)} MB; got ${megabytes(size)} MB`;
    throw invalidRequest([{ field, message }]);
  }
}

// As forms do (HTML, "Multipart form data").
function escaped(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

const pieceBytes = 64 * 1024;

/** The same bytes, not copied. A body of one piece lies in memory three times more while Node sends it. */
function piecesOf(blob: Blob): Blob[] {
  const pieces: Blob[] = [];
  for (let start = 0; start < blob.size; start += pieceBytes) {
    pieces.push(blob.slice(start, start + pieceBytes));
  }
  return pieces;
}

/** The one part of a multipart body. */
interface Part {
  readonly data: Blob;
  readonly filename: string;
  readonly contentType: string;
  readonly field: string;
}

function partOf(file: FileInput, facts: UploadFacts): Part {
  const { field } = facts;
  if (isNamedFile(file)) {
    const data = dataOf(file.data);
    const contentType = (file.contentType ?? data.type) || facts.contentType;
    const filename = file.filename ?? nameOf(file.data) ?? facts.filename;
    return { data, filename, contentType, field: file.fieldName ?? field };
  }
  if (file instanceof Blob || isBytes(file)) {
    const data = dataOf(file);
    return {
      data,
      filename: nameOf(file) ?? facts.filename,
      contentType: data.type || facts.contentType,
      field,
    };
  }
  const message =
    'must be a File, a Blob, bytes or { data, filename, contentType }; for a path use `csvFile()` or `imageFile()` of postreel/node';
  throw invalidRequest([{ field, message }]);
}

// Bytes are copied: what is sent is what was given, whatever happens to them meanwhile.
function dataOf(data: NamedFile['data']): Blob {
  return data instanceof Blob ? data : new Blob([data as BlobPart]); // bytes on any buffer
}

function isNamedFile(file: FileInput): file is NamedFile {
  return typeof file === 'object' && (file as unknown) !== null && 'data' in file;
}

function nameOf(value: unknown): string | undefined {
  return typeof File !== 'undefined' && value instanceof File ? value.name : undefined;
}
