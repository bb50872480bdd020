import { wireValue } from '../../core/body.js';
import type { SendRequest } from './types.js';

/** Does this email have attachments that must be encoded before it is sent? */
export function hasBytes(body: unknown): boolean {
  return attachmentsOf(body).some((item) => valuesOf(item).some((value) => isBinary(value)));
}

/**
 * The email with the bytes and blobs of its attachments as base64. Everything but the contents of
 * blobs, which cannot change, is copied before anything is waited for.
 */
export async function withEncodedAttachments(body: SendRequest): Promise<SendRequest> {
  const copy = copied({ ...body, attachments: undefined });
  const attachments = await Promise.all(attachmentsOf(body).map((item) => encoded(item)));
  return { ...copy, attachments } as object as SendRequest; // only their bytes are another text
}

function copied(fields: object): object {
  try {
    return wireValue(fields) as object; // of an object
  } catch {
    return fields; // refused, with its place, when the call is built
  }
}

async function encoded(item: unknown): Promise<unknown> {
  if (!valuesOf(item).some((value) => isBinary(value))) {
    return item;
  }
  const file = (item as { content?: unknown }).content; // an object with values
  const named = isNamed(file) ? { filename: file.name } : {};
  const fields = await Promise.all(
    Object.entries(item as object).map(async ([name, value]: [string, unknown]) => [
      name,
      isBinary(value) ? await base64Of(value) : value,
    ]),
  );
  return { ...named, ...Object.fromEntries(fields) };
}

function attachmentsOf(body: unknown): readonly unknown[] {
  const list = (body as { attachments?: unknown } | null | undefined)?.attachments;
  return Array.isArray(list) ? list : [];
}

function valuesOf(item: unknown): readonly unknown[] {
  return typeof item === 'object' && item !== null ? Object.values(item) : [];
}

type Binary = Blob | ArrayBuffer | ArrayBufferView;

// By their marks: in test runners and frames the classes are others.
function isBinary(value: unknown): value is Binary {
  return ArrayBuffer.isView(value) || /^(Blob|File|ArrayBuffer)$/.test(kindOf(value));
}

function isNamed(value: unknown): value is File {
  return kindOf(value) === 'File';
}

function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

function base64Of(value: Binary): string | Promise<string> {
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
