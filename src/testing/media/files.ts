import { toResponse } from '../core/http.js';
import type { MediaWorld } from './jobs.js';
import type { MediaFile } from './types.js';

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

/** `Uint8Array<ArrayBuffer>`, written so that TypeScript before 5.7 accepts it: there the type is not generic. */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

/** A prime, so that parts joined at a wrong offset never look right. */
const periodBytes = 65_521;

/** Pseudorandom bytes of a range, without the byte at `to`. The same seed gives the same bytes. */
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

/** The file format of a kind: files are short, valid, and different from each other. */
interface Format {
  readonly contentType: string;
  /** The size in bytes of a file with this playing time. */
  sizeFor(lengthSeconds: number): number;
  /** The first bytes of a file of this size. */
  head(lengthSeconds: number, sizeBytes: number): Bytes;
  /** The byte at a position after the head. `noise` is any byte; it is inaudible or invisible. */
  byteAt(place: number, noise: number): number;
}

// MPEG 2, layer III, 8 kbit/s, 24 kHz, mono: a frame is 24 bytes and plays 24 ms. Its side information
// says that no byte behind it is sound.
const mp3Frame = [0xff, 0xf3, 0x14, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const mp3FrameBytes = 24;
const mp3BytesPerSecond = 1_000;

const mp3: Format = {
  contentType: 'audio/mpeg',
  sizeFor: (lengthSeconds) =>
    Math.ceil((lengthSeconds * mp3BytesPerSecond) / mp3FrameBytes) * mp3FrameBytes,
  head: () => new Uint8Array(),
  // Never 255, with which a frame begins.
  byteAt: (place, noise) => mp3Frame[place % mp3FrameBytes] ?? noise & 0x7f,
};

// PCM of 16 bits, 8 kHz, mono.
const wavHeadBytes = 44;
const wavSampleRate = 8_000;
const wavSampleBytes = 2;

const wav: Format = {
  contentType: 'audio/wav',
  sizeFor: (lengthSeconds) => wavHeadBytes + lengthSeconds * wavSampleRate * wavSampleBytes,
  head: (_, sizeBytes) => wavHead(Math.max(0, sizeBytes - wavHeadBytes)),
  // Too quiet to be heard: at most a thousandth of full scale.
  byteAt: (place, noise) => (place % wavSampleBytes === 0 ? noise & 0x1f : 0),
};

function wavHead(soundBytes: number): Bytes {
  const head = new Uint8Array(wavHeadBytes);
  const view = new DataView(head.buffer);
  head.set(new TextEncoder().encode('RIFF____WAVEfmt '));
  view.setUint32(4, wavHeadBytes - 8 + soundBytes, true);
  view.setUint32(16, 16, true); // the length of what follows, up to `data`
  view.setUint16(20, 1, true); // PCM
  view.setUint16(22, 1, true); // channels
  view.setUint32(24, wavSampleRate, true);
  view.setUint32(28, wavSampleRate * wavSampleBytes, true);
  view.setUint16(32, wavSampleBytes, true);
  view.setUint16(34, wavSampleBytes * 8, true);
  head.set(new TextEncoder().encode('data'), 36);
  view.setUint32(40, soundBytes, true);
  return head;
}

const filmBytes = 65_536;

const film = (contentType: string, brand: string): Format => ({
  contentType,
  sizeFor: () => filmBytes,
  head: (lengthSeconds, sizeBytes) => filmHead({ brand, lengthSeconds, sizeBytes }),
  byteAt: (_, noise) => noise, // in a box of free space
});

/** The formats of the document. */
const formats = {
  mp3,
  wav,
  mp4: film('video/mp4', 'isom'),
  mov: film('video/quicktime', 'qt  '),
} as const satisfies Record<string, Format>;

/** A whole MP4 (ISO 14496-12) with one grey H.264 picture of 256 by 144, and the head of a free box. */
const greyFilm = [
  'AAAAFGZ0eXBpc29tAAACAGlzb20AAAJKbW9vdgAAAGxtdmhkAAAAAAAAAAAAAAAAAAAD6AAAAAAAAQAAAQAAAAAA',
  'AAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'AAAAAgAAAdZ0cmFrAAAAXHRraGQAAAAHAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAA',
  'AAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAQAAAACQAAAAAAFybWRpYQAAACBtZGhkAAAAAAAAAAAAAAAA',
  'AAAD6AAAAABVxAAAAAAAIWhkbHIAAAAAAAAAAHZpZGUAAAAAAAAAAAAAAAAAAAABKW1pbmYAAAAUdm1oZAAAAAEA',
  'AAAAAAAAAAAAACRkaW5mAAAAHGRyZWYAAAAAAAAAAQAAAAx1cmwgAAAAAQAAAOlzdGJsAAAAhXN0c2QAAAAAAAAA',
  'AQAAAHVhdmMxAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAQAAkABIAAAASAAAAAAAAAABAAAAAAAAAAAAAAAAAAAA',
  'AAAAAAAAAAAAAAAAAAAAAAAAGP//AAAAH2F2Y0MBQsAe/+EACGdCwB7aBATkAQAEaM44gAAAABhzdHRzAAAAAAAA',
  'AAEAAAABAAAAAAAAABxzdHNjAAAAAAAAAAEAAAABAAAAAQAAAAEAAAAUc3RzegAAAAAAAACYAAAAAQAAABRzdGNv',
  'AAAAAAAAAAEAAAJmAAAAoG1kYXQAAACUZYiEk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OT',
  'k5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OT',
  'k5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTwAAA/QJmcmVl',
].join('');

/** The positions of the fields that differ between films. */
const brandAt = [8, 16];
const durationAt = [52, 172, 268, 534];
const freeBoxAt = 766;
const boxHeadBytes = 8;

function filmHead({ brand, lengthSeconds, sizeBytes }: Film): Bytes {
  const head = Uint8Array.from(atob(greyFilm), (byte) => byte.charCodeAt(0));
  const view = new DataView(head.buffer);
  brandAt.forEach((at) => head.set(new TextEncoder().encode(brand), at));
  durationAt.forEach((at) => view.setUint32(at, lengthSeconds * 1_000));
  view.setUint32(freeBoxAt, Math.max(boxHeadBytes, sizeBytes - freeBoxAt));
  return head;
}

interface Film {
  readonly brand: string;
  readonly lengthSeconds: number;
  readonly sizeBytes: number;
}
