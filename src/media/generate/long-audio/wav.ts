import { notJoinable } from './error.js';

interface WavPart {
  readonly format: Uint8Array<ArrayBuffer>;
  readonly sound: Uint8Array<ArrayBuffer>;
}

const riffLength = 12;
const chunkLength = 8;
const longest = 0xffff_ffff;

export function isWav(file: Uint8Array): boolean {
  return textAt(file, 0) === 'RIFF' && textAt(file, 8) === 'WAVE';
}

/** The sound of several WAV files under one header. */
export function joinWav(files: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer>[] {
  const parts = files.map(partOf);
  const [first] = parts;
  if (!first || parts.some(({ format }) => format.join() !== first.format.join())) {
    throw notJoinable('they differ in format, sample rate or channels');
  }
  const bytes = parts.reduce((sum, { sound }) => sum + sound.length, 0);
  const header = headerOf(first.format, bytes);
  if (header.length + bytes > longest) {
    throw notJoinable('together they are too long for a WAV file');
  }
  return [header, ...parts.map(({ sound }) => sound)];
}

function partOf(file: Uint8Array<ArrayBuffer>): WavPart {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let format: Uint8Array<ArrayBuffer> | undefined;
  for (let at = riffLength; at + chunkLength <= file.length;) {
    const size = view.getUint32(at + 4, true);
    const start = at + chunkLength;
    if (textAt(file, at) === 'fmt ') {
      format = file.subarray(start, start + size);
    } else if (textAt(file, at) === 'data' && format) {
      // A file that was streamed does not know its own length.
      return { format, sound: file.subarray(start, Math.min(file.length, start + size)) };
    }
    at = start + size + (size % 2);
  }
  throw notJoinable('a WAV file has no sound');
}

function headerOf(format: Uint8Array, bytes: number): Uint8Array<ArrayBuffer> {
  const length = riffLength + chunkLength + format.length + chunkLength;
  const header = new Uint8Array(length);
  const view = new DataView(header.buffer);
  const write = (at: number, text: string, size: number) => {
    header.set(new TextEncoder().encode(text), at);
    view.setUint32(at + 4, size, true);
  };
  write(0, 'RIFF', Math.min(longest, length - chunkLength + bytes));
  header.set(new TextEncoder().encode('WAVE'), 8);
  write(riffLength, 'fmt ', format.length);
  header.set(format, riffLength + chunkLength);
  write(length - chunkLength, 'data', Math.min(longest, bytes));
  return header;
}

function textAt(file: Uint8Array, at: number): string {
  return String.fromCharCode(...file.slice(at, at + 4));
}
