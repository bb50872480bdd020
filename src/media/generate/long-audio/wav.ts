import { notJoinableError } from './error.js';

type Bytes = Uint8Array<ArrayBuffer>;

interface WavPart {
  /** The contents of the `fmt ` chunk: the encoding of the sound. */
  readonly format: Bytes;
  readonly sound: Bytes;
}

const riffBytes = 12;
const chunkHeadBytes = 8;
const minFormatBytes = 16;
const maxBytes = 0xffff_ffff;
// A program that does not know the length yet writes this value, or 0.
const unknownLength = 0xffff_ffff;

export function isWav(file: Uint8Array): boolean {
  return textAt(file, 0) === 'RIFF' && textAt(file, 8) === 'WAVE';
}

/** Joins the sound of several WAV files under one header, with silence between them. */
export function joinWav(files: readonly Bytes[], gapMs: number): Bytes[] {
  const parts = files.map(partOf);
  const [first] = parts;
  if (!first || parts.some(({ format }) => format.join() !== first.format.join())) {
    throw notJoinableError('they differ in format, sample rate or channels');
  }
  const gap = createSilence(first.format, gapMs);
  const sounds = parts.flatMap(({ sound }, index) => (index === 0 ? [sound] : [gap, sound]));
  const bytes = sounds.reduce((sum, { length }) => sum + length, 0);
  const pad = new Uint8Array(bytes % 2); // a chunk ends at an even offset
  const header = headerOf(first.format, bytes);
  if (header.length + bytes > maxBytes) {
    throw notJoinableError('together they are too long for a WAV file');
  }
  return [header, ...sounds, pad];
}

function partOf(file: Bytes): WavPart {
  const view = viewOf(file);
  let format: Bytes | undefined;
  for (let at = riffBytes; at + chunkHeadBytes <= file.length;) {
    const size = view.getUint32(at + 4, true);
    const start = at + chunkHeadBytes;
    if (textAt(file, at) === 'fmt ' && size >= minFormatBytes && start + size <= file.length) {
      format = file.subarray(start, start + size);
    } else if (textAt(file, at) === 'data' && format) {
      return { format, sound: soundAt(file, start, { size, format }) };
    }
    at = start + size + (size % 2);
  }
  throw notJoinableError('a WAV file has no sound');
}

/** The sound of a `data` chunk. When a streaming program left the size open, it ends with the file. */
function soundAt(
  file: Bytes,
  start: number,
  { size, format }: { readonly size: number; readonly format: Bytes },
): Bytes {
  const isWhole = viewOf(file).getUint32(4, true) + chunkHeadBytes === file.length;
  const isUnknown = (size === 0 && !isWhole) || size === unknownLength;
  const length = Math.min(isUnknown ? Infinity : size, file.length - start);
  // Drops an incomplete sample at the end: it would shift all samples of the next part.
  return file.subarray(start, start + length - (length % blockBytesOf(format)));
}

const silentByPulseCode = 0;
// The byte for silence by format and bits: 8-bit samples are unsigned; A-law and mu-law have special codes.
const silentBytes: Readonly<Record<string, number>> = { '1 8': 0x80, '6 8': 0xd5, '7 8': 0xff };

function createSilence(format: Bytes, gapMs: number): Bytes {
  const view = viewOf(format);
  const blockBytes = blockBytesOf(format);
  const blocks = Math.round((view.getUint32(8, true) * gapMs) / 1_000 / blockBytes);
  const kind = `${view.getUint16(0, true)} ${view.getUint16(14, true)}`;
  return new Uint8Array(blocks * blockBytes).fill(silentBytes[kind] ?? silentByPulseCode);
}

// The size of one sample of every channel, in bytes.
function blockBytesOf(format: Bytes): number {
  return viewOf(format).getUint16(12, true) || 1;
}

function headerOf(format: Uint8Array, bytes: number): Bytes {
  const length = riffBytes + chunkHeadBytes + format.length + chunkHeadBytes;
  const header = new Uint8Array(length);
  const view = viewOf(header);
  const write = (at: number, text: string, size: number) => {
    header.set(new TextEncoder().encode(text), at);
    view.setUint32(at + 4, size, true);
  };
  write(0, 'RIFF', Math.min(maxBytes, length - chunkHeadBytes + bytes + (bytes % 2)));
  header.set(new TextEncoder().encode('WAVE'), 8);
  write(riffBytes, 'fmt ', format.length);
  header.set(format, riffBytes + chunkHeadBytes);
  write(length - chunkHeadBytes, 'data', Math.min(maxBytes, bytes));
  return header;
}

function viewOf({ buffer, byteOffset, byteLength }: Bytes): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function textAt(file: Uint8Array, at: number): string {
  return String.fromCharCode(...file.subarray(at, at + 4));
}
