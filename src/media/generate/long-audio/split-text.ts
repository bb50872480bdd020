import type { TextRange } from '../types.js';
import { graphemeEnds, sentenceEnds } from './text-boundaries.js';

/** A part of a longer text. */
export interface TextPart extends TextRange {
  readonly text: string;
}

/**
 * Cuts a text into parts of at most `maxLength` UTF-16 units, as late as possible: at the end of a
 * sentence; a sentence that is too long by itself at a line break, else between words, else between
 * characters. Only whitespace between parts is lost.
 */
export function splitText(text: string, maxLength: number): TextPart[] {
  const parts: TextPart[] = [];
  const last = text.trimEnd().length;
  const { sure, possible } = text.length > maxLength ? sentenceEnds(text) : noEnds;
  let start = skipSpace(text, 0);
  while (last - start > maxLength) {
    const limit = start + maxLength;
    const end =
      lastBetween(sure, start, limit) ??
      lastBetween(possible, start, limit) ??
      endInside(text, start, limit);
    parts.push({ text: text.slice(start, end), start, end });
    start = skipSpace(text, end);
  }
  if (start < last) {
    parts.push({ text: text.slice(start, last), start, end: last });
  }
  return parts;
}

const noEnds = { sure: [], possible: [] };

/** Where to cut a sentence that does not fit. */
function endInside(text: string, start: number, limit: number): number {
  // One more: a space may stand right behind the limit.
  const window = text.slice(start, limit + 1);
  for (const gap of [/\s*[\n\r]/g, /\s+/g]) {
    const cut = [...window.matchAll(gap)].findLast(({ index }) => index > 0);
    if (cut) {
      return start + window.slice(0, cut.index).trimEnd().length;
    }
  }
  // A character is at most a few units long: only the end of the window has to be checked.
  const from = wholeCharactersFrom(text, start, limit);
  const ends = [from, ...graphemeEnds(text, from, limit + maxCharacterLength)];
  return lastBetween(ends, start, limit) ?? limit - (isInsidePair(text, limit) ? 1 : 0);
}

function isInsidePair(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}

const maxCharacterLength = 64;

// Segmentation has to begin at a place that is certainly not inside a character.
function wholeCharactersFrom(text: string, start: number, limit: number): number {
  for (let index = limit - 1; index > start && index > limit - maxCharacterLength; index--) {
    if (/[ -~]/.test(text.charAt(index))) {
      return index;
    }
  }
  return start;
}

function skipSpace(text: string, from: number): number {
  const rest = /\S/g;
  rest.lastIndex = from;
  return rest.exec(text)?.index ?? text.length;
}

/** The last of some ascending numbers above `start` and up to `limit`. */
function lastBetween(ends: readonly number[], start: number, limit: number): number | undefined {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ends[middle] ?? 0) <= limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const end = ends[low - 1];
  return end !== undefined && end > start ? end : undefined;
}
