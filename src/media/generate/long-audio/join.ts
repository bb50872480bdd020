import { notJoinable } from './error.js';
import { mp3Part } from './mp3.js';
import { isWav, joinWav } from './wav.js';

/** Joins parts of speech, in their order, to one file without decoding them. */
export function joinAudio(parts: readonly Uint8Array<ArrayBuffer>[]): Blob {
  if (parts.length === 0) {
    throw notJoinable('there are none');
  }
  if (parts.every(isWav)) {
    return new Blob(joinWav(parts), { type: 'audio/wav' });
  }
  const frames = parts.map((part) => {
    const own = mp3Part(part);
    if (!own) {
      throw notJoinable('a part is neither MP3 nor WAV, or they are mixed');
    }
    return own;
  });
  if (new Set(frames.map(({ format }) => format)).size > 1) {
    throw notJoinable('they differ in version, sample rate or channels');
  }
  return new Blob(
    frames.map(({ bytes }) => bytes),
    { type: 'audio/mpeg' },
  );
}
