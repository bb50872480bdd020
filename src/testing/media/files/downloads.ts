import { toResponse } from '../../core/http/answer.js';
import { bytesOf, hashText, type Bytes } from './bytes.js';
import { streamBytes } from './byte-stream.js';
import type { MediaFile } from '../types.js';
import type { MediaWorld } from '../world.js';

/** The name of downloads for faults and records: they are no part of the endpoint table. */
export const downloadEndpoint = 'GET /cdn/{file}';

interface Span {
  readonly from: number;
  /** The first byte that is no longer part of it. */
  readonly to: number;
}

/** Answers a download from the CDN. */
export function answerDownload(world: MediaWorld, request: Request, path: string): Response {
  if (request.headers.has('authorization')) {
    // A CDN that sees a key has been told a secret: make the leak fail.
    return toResponse({ status: 400, body: 'Downloads take no Authorization header.' });
  }
  const file = world.files.find(({ download }) => download === world.cdnUrl + path);
  if (file === undefined || !['GET', 'HEAD'].includes(request.method)) {
    return toResponse({ status: 404, body: 'Not found.' });
  }
  return deliver(world, file, request);
}

/** The whole content of a finished file. */
export function contentOf(world: MediaWorld, file: MediaFile): Bytes {
  return bytesOf(seedOf(file), 0, sizeOf(world, file));
}

function deliver(world: MediaWorld, file: MediaFile, request: Request): Response {
  const size = sizeOf(world, file);
  const part = isResumable(world, file, request) ? readRange(request, size) : undefined;
  const { from, to } = part ?? { from: 0, to: size };
  if (part !== undefined && from >= to) {
    return new Response(null, { status: 416, headers: { 'Content-Range': `bytes */${size}` } });
  }
  const headers = headersOf(world, file);
  headers.set('Content-Length', String(to - from));
  if (part !== undefined) {
    headers.set('Content-Range', `bytes ${from}-${to - 1}/${size}`);
  }
  const read = (start: number, end: number) => bytesOf(seedOf(file), start, end);
  const isHead = request.method === 'HEAD';
  const body = isHead ? null : streamBytes({ from, to }, request.signal, read);
  return new Response(body, { status: part === undefined ? 200 : 206, headers });
}

const seedOf = ({ fileId, revision }: MediaFile) => `${fileId}.${revision}`;

function sizeOf({ options }: MediaWorld, file: MediaFile): number {
  const { fileBytes = 65_536 } = options;
  return typeof fileBytes === 'number' ? fileBytes : fileBytes(file);
}

const etagOf = (file: MediaFile) => `"${hashText(seedOf(file))}"`;

function headersOf({ options }: MediaWorld, file: MediaFile): Headers {
  return new Headers({
    'Content-Type': contentTypes[String(file.settings.extension ?? file.settings.format)] ?? '',
    ETag: etagOf(file),
    'Accept-Ranges': options.ranges === false ? 'none' : 'bytes',
  });
}

const contentTypes: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
};

/** If-Range: a part is only sent of the file that the first part was of. */
function isResumable({ options }: MediaWorld, file: MediaFile, { headers }: Request): boolean {
  const condition = headers.get('if-range');
  return options.ranges !== false && (condition === null || condition === etagOf(file));
}

/** What `bytes=0-99`, `bytes=100-` or `bytes=-50` asks for; `undefined` for anything else, which is ignored. */
function readRange({ headers }: Request, size: number): Span | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(headers.get('range') ?? '') ?? [];
  if (first === '' && last === '') {
    return undefined;
  }
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return { from, to };
}
