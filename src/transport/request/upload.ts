import { isBytes, type FileInput, type NamedFile } from '../../contract/records.js';
import type { MultipartBytes, UploadFacts } from '../../contract/route.js';
import { refuse } from '../../errors/client-errors.js';
import { megabytes } from './body.js';

/**
 * A multipart body with one file in it. The content type of a form is left to `fetch`: it sets the
 * boundary. Bytes are put into one piece here: of a form `fetch` makes a blob and a stream, which take
 * several times the memory of the file.
 */
export function multipartBody(file: FileInput, facts: UploadFacts): FormData | MultipartBytes {
  if (isNamedFile(file) && isBytes(file.data)) {
    return multipartBytes({ ...file, data: bytesOf(file.data) }, facts);
  }
  const { blob, filename } = asBlob(file, facts);
  refuseTooLarge(blob.size, facts);
  const form = new FormData();
  form.append(
    isNamedFile(file) ? (file.fieldName ?? facts.field) : facts.field,
    inPieces(blob),
    filename,
  );
  return form;
}

function refuseTooLarge(size: number, { maxBytes, field }: UploadFacts): void {
  if (maxBytes !== undefined && size > maxBytes) {
    const message = `must be at most ${megabytes(maxBytes)} MB; got ${megabytes(size)} MB`;
    throw refuse([{ field, message }]);
  }
}

function multipartBytes(
  { data, filename, contentType, fieldName }: NamedFile & { data: Uint8Array },
  facts: UploadFacts,
): MultipartBytes {
  refuseTooLarge(data.length, facts);
  const encoder = new TextEncoder(); // not every test runner has one where nothing is uploaded
  const boundary = `postreel-${crypto.randomUUID()}`;
  const name = `name="${escaped(fieldName ?? facts.field)}"`;
  const head = encoder.encode(
    `--${boundary}\r\nContent-Disposition: form-data; ${name}; ` +
      `filename="${escaped(filename ?? facts.filename)}"\r\n` +
      `Content-Type: ${escaped(contentType ?? facts.contentType)}\r\n\r\n`,
  );
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  const bytes = new Uint8Array(head.length + data.length + tail.length);
  bytes.set(head);
  bytes.set(data, head.length);
  bytes.set(tail, head.length + data.length);
  return { bytes, contentType: `multipart/form-data; boundary=${boundary}` };
}

// As forms do (HTML, "Multipart form data").
function escaped(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

const pieceBytes = 64 * 1024;

/** The same bytes, not copied. A body of one piece lies in memory three times more while Node sends it. */
function inPieces(blob: Blob): Blob {
  const pieces: Blob[] = [];
  for (let start = 0; start < blob.size; start += pieceBytes) {
    pieces.push(blob.slice(start, start + pieceBytes));
  }
  return new Blob(pieces, { type: blob.type });
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
  if (isBytes(file)) {
    const blob = new Blob([file as BlobPart], { type: facts.contentType }); // bytes on any buffer
    return { blob, filename: facts.filename };
  }
  const message =
    'must be a File, a Blob, bytes or { data, filename, contentType }; for a path use `csvFile()` or `imageFile()` of postreel/node';
  throw refuse([{ field: facts.field, message }]);
}

function isNamedFile(file: FileInput): file is NamedFile {
  return typeof file === 'object' && (file as unknown) !== null && 'data' in file;
}

function nameOf(value: unknown): string | undefined {
  return typeof File !== 'undefined' && value instanceof File ? value.name : undefined;
}
