import { isBytes, type FileInput, type NamedFile } from '../../contract/records.js';
import type { UploadFacts } from '../../contract/route.js';
import { refuse } from '../../errors/client-errors.js';
import { megabytes } from './body.js';

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
