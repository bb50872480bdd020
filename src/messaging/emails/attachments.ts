import { wireValue } from '../../core/body.js';
import { isBytes, tagOf } from '../../core/values.js';
import type { SendRequest } from '../emails.js';

/** Does this email have attachments that must be encoded before it is sent? */
export function hasFiles(body: unknown): boolean {
  return attachmentsOf(body).some((item) => valuesOf(item).some(isFile));
}

/**
 * The email with the bytes and blobs of its attachments as base64, and so with what is certainly a file: a data
 * address, and bytes that went through JSON. Everything but the contents of blobs, which cannot change, is
 * copied before anything is waited for.
 */
export async function withEncodedAttachments(body: SendRequest): Promise<SendRequest> {
  const copy = copied({ ...body, attachments: undefined });
  const attachments = await Promise.all(attachmentsOf(body).map((item) => encoded(item)));
  return { ...copy, attachments } as object as SendRequest; // only their bytes are another text
}

/** Why the text of an attachment cannot be its content; `undefined` where it is base64. */
export function contentProblem(content: string, filename: unknown): string | undefined {
  const text = content.replace(/[\r\n]/g, '');
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  if (isBase64 && text !== filename && !isLikePath(text)) {
    return undefined;
  }
  if (/^https?:/i.test(content)) {
    return 'must be the content of the file, not its address: fetch it first, and give its bytes';
  }
  const isPath =
    !isBase64 &&
    /[\s<>{}]/.test(content.trim()) &&
    !/^([a-z]:|\\\\|file:|[~.]?[\\/])/i.test(content);
  return isPath
    ? 'must be bytes, a Blob or base64; got a text: `new TextEncoder().encode(text)` makes bytes of it'
    : 'must be bytes, a Blob or base64, not a path: `await attachment(path)` of `postreel/node` reads the file';
}

// A path such as `reports/2027` is base64 by its letters. Files of so few bytes begin with other words.
function isLikePath(text: string): boolean {
  const isShort = text.length <= 256 && text.includes('/');
  return isShort && /^\/?([A-Za-z]+\d*\/)+[A-Za-z]*\d*$/.test(text) && !fileStarts.test(text);
}

// JPEG, PNG, GIF, PDF, ZIP.
const fileStarts = /^(\/9j\/|iVBOR|R0lGOD|JVBER|UEsDB)/;

function copied(fields: object): object {
  try {
    return wireValue(fields) as object; // of an object
  } catch {
    return fields; // refused, with its place, when the call is built
  }
}

async function encoded(item: unknown): Promise<unknown> {
  if (!valuesOf(item).some(isFile)) {
    return item;
  }
  const file = (item as { content?: unknown }).content; // an object with values
  const [, contentType] = dataAddress(file) ?? [];
  const known = {
    ...(isNamed(file) && { filename: file.name }),
    ...(contentType && { contentType }),
  };
  const fields = await Promise.all(
    Object.entries(item as object).map(async ([name, value]: [string, unknown]) => [
      name,
      isFile(value) ? await base64Of(value) : value,
    ]),
  );
  return { ...known, ...Object.fromEntries(fields) };
}

/** Bytes as JSON carries a `Buffer`. */
interface BufferInJson {
  readonly type: 'Buffer';
  readonly data: readonly number[];
}

function isFile(value: unknown): value is Binary | BufferInJson | string {
  return isBinary(value) || isBufferInJson(value) || dataAddress(value) !== undefined;
}

function isBufferInJson(value: unknown): value is BufferInJson {
  const { type, data } = Object(value) as Partial<BufferInJson>; // anything
  return type === 'Buffer' && Array.isArray(data);
}

/** The parts of `data:image/png;base64,iVBO…`: the whole, its type, and its content. */
function dataAddress(value: unknown): readonly string[] | undefined {
  return typeof value === 'string' && value.startsWith('data:')
    ? (/^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s.exec(value) ?? undefined)
    : undefined;
}

function attachmentsOf(body: unknown): readonly unknown[] {
  const list = (body as { attachments?: unknown } | null | undefined)?.attachments;
  return Array.isArray(list) ? list : [];
}

function valuesOf(item: unknown): readonly unknown[] {
  return typeof item === 'object' && item !== null && !isBinary(item) ? Object.values(item) : [];
}

type Binary = Blob | ArrayBuffer | ArrayBufferView;

// By their marks: in test runners and frames the classes are others.
function isBinary(value: unknown): value is Binary {
  return isBytes(value) || ['Blob', 'File'].includes(tagOf(value));
}

function isNamed(value: unknown): value is File {
  return tagOf(value) === 'File';
}

function base64Of(value: Binary | BufferInJson | string): string | Promise<string> {
  if (typeof value === 'string') {
    return dataAddress(value)?.[2] ?? value;
  }
  if (isBufferInJson(value)) {
    return base64(Uint8Array.from(value.data));
  }
  if (ArrayBuffer.isView(value)) {
    return base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  }
  return 'arrayBuffer' in value
    ? value.arrayBuffer().then((bytes) => base64(new Uint8Array(bytes)))
    : base64(new Uint8Array(value));
}

// In steps: a call takes a limited number of arguments.
function base64(bytes: Uint8Array): string {
  const step = 0x8000;
  let binary = '';
  for (let start = 0; start < bytes.length; start += step) {
    binary += String.fromCharCode(...bytes.subarray(start, start + step));
  }
  return btoa(binary);
}
