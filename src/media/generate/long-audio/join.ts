import { invalidRequest } from '../../../core/errors.js';
import { readOptions, wholeNumber, type OptionKinds } from '../../../core/options.js';
import { isRecord } from '../../../core/values.js';
import { transferOptions, type TransferOptions } from '../../download/transfer-options.js';
import type { MediaFile } from '../../jobs/file.js';
import { notJoinableError } from './error.js';
import { joinMp3, mp3Part } from './mp3.js';
import { isWav, joinWav } from './wav.js';

/** How to join the parts of a long audio. */
export interface JoinOptions extends TransferOptions {
  /**
   * Silence between the parts, in milliseconds; at most 60 000. In an MP3 it is rounded to whole frames of
   * about 25 ms.
   * @default 0
   */
  gapMs?: number | undefined;
}

const maxGapMs = 60_000;
const joinOptions: OptionKinds<JoinOptions> = {
  ...transferOptions,
  gapMs: wholeNumber(0, maxGapMs),
};

/** Downloads the parts of a speech and joins them to one file, in order. */
export async function joinFiles(files: readonly MediaFile[], given?: JoinOptions): Promise<Blob> {
  const { gapMs = 0, ...options } = readOptions(given, joinOptions, { name: '`joinAudio()`' });
  files.forEach(requireFile);
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (const file of files) {
    parts.push(new Uint8Array(await file.arrayBuffer(options)));
  }
  return joinParts(parts, gapMs);
}

// Plain JavaScript may pass the results of `waitForFiles()` instead of the files.
function requireFile(file: unknown, index: number): void {
  if (!isRecord(file) || typeof file['arrayBuffer'] !== 'function') {
    const message = 'must be a finished file, as `waitForFile()` resolves to';
    throw invalidRequest([{ field: `files[${index}]`, message }]);
  }
}

/** Joins the parts to one file without decoding them. */
function joinParts(parts: readonly Uint8Array<ArrayBuffer>[], gapMs: number): Blob {
  if (parts.length === 0) {
    throw notJoinableError('there are none');
  }
  if (parts.every(isWav)) {
    return new Blob(joinWav(parts, gapMs), { type: 'audio/wav' });
  }
  const frames = parts.map((part) => {
    const own = mp3Part(part);
    if (!own) {
      throw notJoinableError('a part is neither MP3 nor WAV, or they are mixed');
    }
    return own;
  });
  return new Blob([joinMp3(frames, gapMs)], { type: 'audio/mpeg' });
}
