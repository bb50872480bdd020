import { toResponse } from '../core/http.js';
import { formats, type Format } from './formats.js';
import type { MediaFile } from './types.js';
import type { MediaWorld } from './world.js';

/** The name of downloads in faults and records: they are not in the endpoint table. */
export const downloadEndpoint = 'GET /cdn/{file}';

interface Span {
  readonly from: number;
  /** The first byte after the span. */
  readonly to: number;
}

/** Handles a download from the CDN. */
export function answerDownload(world: MediaWorld, request: Request, path: string): Response {
  if (request.headers.has('authorization')) {
    // A key must not be sent to a CDN: make the leak fail.
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
  const sizeBytes = sizeOf(world, file);
  return reader(file, sizeBytes)(0, sizeBytes);
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
  const isHead = request.method === 'HEAD';
  const body = isHead ? null : streamBytes({ from, to }, request.signal, reader(file, size));
  return new Response(body, { status: part === undefined ? 200 : 206, headers });
}

const seedOf = ({ fileId, revision }: MediaFile) => `${fileId}.${revision}`;

function sizeOf({ options }: MediaWorld, file: MediaFile): number {
  const { fileBytes = formatOf(file).sizeFor(file.lengthSeconds) } = options;
  return typeof fileBytes === 'number' ? fileBytes : fileBytes(file);
}

/** Creates a function that reads parts of a file of this size. */
function reader(file: MediaFile, sizeBytes: number): (from: number, to: number) => Bytes {
  const format = formatOf(file);
  const head = format.head(file.lengthSeconds, sizeBytes);
  return (from, to) =>
    noiseOf(seedOf(file), from, to).map(
      (noise, index) => head[from + index] ?? format.byteAt(from + index, noise),
    );
}

function formatOf({ settings }: MediaFile): Format {
  const { extension, format } = settings;
  return formats[(extension ?? format) as keyof typeof formats]; // as the rules of the request allow
}

const etagOf = (file: MediaFile) => `"${hashText(seedOf(file))}"`;

function headersOf({ options }: MediaWorld, file: MediaFile): Headers {
  return new Headers({
    'Content-Type': formatOf(file).contentType,
    ETag: etagOf(file),
    'Accept-Ranges': options.ranges === false ? 'none' : 'bytes',
  });
}

/** If-Range: send a part only if the file is the same as that of the first part. */
function isResumable({ options }: MediaWorld, file: MediaFile, { headers }: Request): boolean {
  const condition = headers.get('if-range');
  return options.ranges !== false && (condition === null || condition === etagOf(file));
}

/** Parses `bytes=0-99`, `bytes=100-` or `bytes=-50`; `undefined` for anything else, which is ignored. */
function readRange({ headers }: Request, size: number): Span | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(headers.get('range') ?? '') ?? [];
  if (first === '' && last === '') {
    return undefined;
  }
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return { from, to };
}

const chunkBytes = 65_536;

/** Streams a span of bytes in chunks that are created when they are read; stops when the caller aborts. */
function streamBytes(
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
  read: (from: number, to: number) => Bytes,
): ReadableStream<Bytes> {
  let sent = from;
  return new ReadableStream({
    start(controller) {
      signal.addEventListener('abort', () => controller.error(signal.reason), { once: true });
    },
    pull(controller) {
      const next = Math.min(to, sent + chunkBytes);
      if (next > sent) {
        controller.enqueue(read(sent, next));
      }
      sent = next;
      if (sent === to) {
        controller.close();
      }
    },
  });
}

/** `Uint8Array<ArrayBuffer>`, in words that TypeScript before 5.7 reads too: there it is no generic. */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

/** A prime, so that parts joined at a wrong offset never look right. */
const periodBytes = 65_521;

/** Bytes `from` to before `to` of a noise: the same for the same seed, different everywhere else. */
function noiseOf(seed: string, from: number, to: number): Bytes {
  const bytes = new Uint8Array(to - from);
  const start = hash(seed);
  for (let index = 0; index < bytes.length; index += 1) {
    const place = from + index;
    const turn = Math.floor(place / periodBytes);
    bytes[index] = (Math.imul((place % periodBytes) + start, 2_654_435_761) >>> 24) ^ turn;
  }
  return bytes;
}

/** A short text that differs for different seeds. */
const hashText = (seed: string) => hash(seed).toString(16).padStart(8, '0');

/** FNV-1a */
function hash(seed: string): number {
  let value = 2_166_136_261;
  for (const character of seed) {
    value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  }
  return value;
}
