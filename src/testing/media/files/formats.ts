import type { Bytes } from './bytes.js';
import { mp4Head } from './mp4.js';

/** How the files of a kind look: short, valid, and different from each other. */
export interface Format {
  readonly contentType: string;
  /** The size of a file that plays so long. */
  sizeFor(lengthSeconds: number): number;
  /** How a file of this size begins. */
  head(lengthSeconds: number, sizeBytes: number): Bytes;
  /** The byte at a place behind the head. `noise` is any byte, which is heard or seen as nothing. */
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

const videoBytes = 65_536;

const video = (contentType: string, brand: 'isom' | 'qt  '): Format => ({
  contentType,
  sizeFor: () => videoBytes,
  head: (lengthSeconds, sizeBytes) => mp4Head({ brand, lengthSeconds, sizeBytes }),
  byteAt: (_, noise) => noise, // in a box of free space
});

/** The formats of the document. */
export const formats = {
  mp3,
  wav,
  mp4: video('video/mp4', 'isom'),
  mov: video('video/quicktime', 'qt  '),
} as const satisfies Record<string, Format>;
