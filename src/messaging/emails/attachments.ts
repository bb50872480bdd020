import { toJsonValue } from '../../core/call/body.js';
import { invalidRequest } from '../../core/errors.js';
import { findSimilar } from '../../core/typos.js';
import { isBytes, isPromise, isRecord, isStream, tagOf } from '../../core/values.js';

/** Whether attachments of this email must be encoded, or rejected, before it is sent. */
export function hasFiles(body: unknown): boolean {
  return attachmentsOf(body).some((item) =>
    valuesOf(item).some((value) => isFile(value) || isUnread(value)),
  );
}

/**
 * Encodes the attachments of an email as base64: bytes, blobs, `data:` URLs, and buffers that went through JSON. The
 * email is copied before anything is awaited, so that later changes have no effect. Blobs are read later: their
 * contents cannot change.
 */
export async function encodeAttachments<Mail extends object>(body: Mail): Promise<Mail> {
  const items = attachmentsOf(body);
  refuseUnread(items);
  const copy = copyFields({ ...body, attachments: undefined });
  const attachments = await Promise.all(items.map((item) => encodeAttachment(item)));
  return { ...copy, attachments } as object as Mail; // the fields keep their types: only files are now base64
}

function refuseUnread(items: readonly unknown[]): void {
  const problems = items.flatMap((item, index) =>
    Object.entries(isRecord(item) ? item : {})
      .filter(([, value]) => isUnread(value))
      .map(([name, value]) => ({
        field: `attachments[${index}].${name}`,
        message: `must be bytes, a Blob or base64; got ${unreadKind(value)}`,
      })),
  );
  if (problems.length > 0) {
    throw invalidRequest(problems, { method: 'POST', path: '/v1/send' });
  }
}

function isUnread(value: unknown): boolean {
  return isStream(value) || isPromise(value);
}

function unreadKind(value: unknown): string {
  return isPromise(value)
    ? 'a promise: `await` it first'
    : 'a stream: read it first, with `await attachment(path)` of `postreel/node`, or `buffer(stream)` of `node:stream/consumers`';
}

/** One problem of an attachment. */
interface AttachmentProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * Returns the reasons why an attachment cannot be sent; an empty list if it can. The service does not document the
 * fields of attachments.
 */
export function attachmentProblems(
  file: Readonly<Record<string, unknown>>,
): readonly AttachmentProblem[] {
  const { content, filename } = file;
  const lineBreaks = (['filename', 'contentType'] as const)
    .filter((name) => /[\r\n]/.test(textOf(file[name]))) // a line break in a header would begin another header
    .map((name) => ({ path: [name], message: 'must not contain a line break' }));
  const message =
    typeof content === 'string'
      ? contentProblem(content, filename)
      : content === undefined
        ? undefined
        : 'must be bytes, a Blob or base64';
  const inContent = message === undefined ? [] : [{ path: ['content'], message }];
  return [...(content === undefined ? missingProblems(file) : inContent), ...lineBreaks];
}

/** Checks an attachment without `content`: an unknown field, such as a link, may be used in its place. */
function missingProblems(file: Readonly<Record<string, unknown>>): readonly AttachmentProblem[] {
  const { path, href } = file;
  if ([path, href].some((place) => typeof place === 'string' && !/^https?:/i.test(place))) {
    const message =
      'must have the `content` of the file, not its location: `await attachment(path)` of `postreel/node` reads it';
    return [{ path: [], message }];
  }
  const names = Object.keys(file).filter((name) => file[name] !== undefined);
  const typo = names.find((name) => !descriptive.test(name) && isContentTypo(name));
  if (typo !== undefined) {
    const message = `is required; \`${typo}\` is not a field. Did you mean \`content\`?`;
    return [{ path: ['content'], message }];
  }
  return names.every((name) => descriptive.test(name))
    ? [{ path: ['content'], message: 'is required: bytes, a Blob or base64' }]
    : [];
}

const contentTypos = ['contents', 'data', 'file', 'body', 'buffer', 'base64'];

function isContentTypo(name: string): boolean {
  return contentTypos.includes(name) || findSimilar(name, ['content']) !== undefined;
}

// The fields by which other packages describe a file. None of them can be its content.
const descriptive =
  /^(file-?_?name|name|(content-?_?)?(type|id|disposition|encoding)|mime(-?_?type)?|cid|inline|size|headers)$/i;

/** Returns the reason why a string cannot be the content of an attachment; `undefined` if it is base64. */
function contentProblem(content: string, filename: unknown): string | undefined {
  const text = content.replace(/[\r\n]/g, '');
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  if (isBase64 && text !== filename && !isLikePath(text)) {
    return undefined;
  }
  if (/^https?:/i.test(content)) {
    return 'must be the content of the file, not its address: fetch it first, and give its bytes';
  }
  if (isOtherBase64(text)) {
    return "must be base64 with `+` and `/`, padded with `=`; got base64url, or base64 without padding. Pass the bytes: `Buffer.from(content, 'base64')`";
  }
  const isPlainText =
    !isBase64 &&
    /[\s<>{}]/.test(content.trim()) &&
    !/^([a-z]:|\\\\|file:|[~.]?[\\/])/i.test(content);
  return isPlainText
    ? 'must be bytes, a Blob or base64; got a text: `new TextEncoder().encode(text)` makes bytes of it'
    : 'must be bytes, a Blob or base64, not a path: `await attachment(path)` of `postreel/node` reads the file';
}

// A path such as `reports/2027` has only base64 characters. The base64 of a small file rarely has this form, except
// after the first characters of a known format.
function isLikePath(text: string): boolean {
  const isShort = text.length <= 256 && text.includes('/');
  return isShort && /^\/?([A-Za-z]+\d*\/)+[A-Za-z]*\d*$/.test(text) && !fileStarts.test(text);
}

/** Whether this is base64url, or base64 without padding. A short text is not: it may be the name of a file. */
function isOtherBase64(text: string): boolean {
  const isLong = text.length >= 64 || fileStarts.test(text);
  return isLong && /^([\w-]+|[A-Za-z0-9+/]+)={0,2}$/.test(text) && !isLikePath(text);
}

// The first base64 or base64url characters of JPEG, PNG, GIF, PDF and ZIP files.
const fileStarts = /^(\/9j\/|_9j_|iVBOR|R0lGOD|JVBER|UEsDB)/;

function copyFields(fields: object): object {
  try {
    return toJsonValue(fields) as object; // an object stays an object
  } catch {
    return fields; // the call rejects it, with the name of the field, when its request body is built
  }
}

async function encodeAttachment(item: unknown): Promise<unknown> {
  if (!valuesOf(item).some(isFile)) {
    return item;
  }
  const file = (item as { content?: unknown }).content; // `valuesOf()` has found values, so it is an object
  const [, contentType] = parseDataUrl(file) ?? [];
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

/** The form of a `Buffer` in JSON. */
interface BufferInJson {
  readonly type: 'Buffer';
  readonly data: readonly number[];
}

function isFile(value: unknown): value is Binary | BufferInJson | string {
  return isBinary(value) || isBufferInJson(value) || parseDataUrl(value) !== undefined;
}

function isBufferInJson(value: unknown): value is BufferInJson {
  const { type, data } = Object(value) as Partial<BufferInJson>; // the value may be of any type
  return type === 'Buffer' && Array.isArray(data);
}

/** Splits `data:image/png;base64,iVBO…` into the whole text, its content type and its base64 content. */
function parseDataUrl(value: unknown): readonly string[] | undefined {
  return typeof value === 'string' && value.startsWith('data:')
    ? (/^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s.exec(value) ?? undefined)
    : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function attachmentsOf(body: unknown): readonly unknown[] {
  const list = (body as { attachments?: unknown } | null | undefined)?.attachments;
  return Array.isArray(list) ? list : [];
}

function valuesOf(item: unknown): readonly unknown[] {
  return typeof item === 'object' && item !== null && !isBinary(item) ? Object.values(item) : [];
}

type Binary = Blob | ArrayBuffer | ArrayBufferView;

// Recognized by their tags, because test runners and frames have separate classes, for which `instanceof` fails.
function isBinary(value: unknown): value is Binary {
  return isBytes(value) || ['Blob', 'File'].includes(tagOf(value));
}

function isNamed(value: unknown): value is File {
  return tagOf(value) === 'File';
}

function base64Of(value: Binary | BufferInJson | string): string | Promise<string> {
  if (typeof value === 'string') {
    return parseDataUrl(value)?.[2] ?? value;
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

// Converts in steps, because a function call may have only a limited number of arguments.
function base64(bytes: Uint8Array): string {
  const step = 0x8000;
  let binary = '';
  for (let start = 0; start < bytes.length; start += step) {
    binary += String.fromCharCode(...bytes.subarray(start, start + step));
  }
  return btoa(binary);
}
