import type { TextRange } from '../types.js';
import { findGraphemeEnds, findSentenceEnds } from './text-boundaries.js';

/** A part of a longer text. */
export interface TextPart extends TextRange {
  readonly text: string;
}

/**
 * Splits a text into parts of at most `maxLength` UTF-16 units. Each part is as long as possible and ends
 * with a sentence. A sentence that is longer than `maxLength` is cut at a line break, else between words,
 * else between characters. Only whitespace between parts is lost.
 */
export function splitText(text: string, maxLength: number): TextPart[] {
  const parts: TextPart[] = [];
  const last = text.trimEnd().length;
  const { sure, possible } = text.length > maxLength ? findSentenceEnds(text) : noEnds;
  let start = skipSpace(text, 0);
  while (last - start > maxLength) {
    const limit = start + maxLength;
    const end =
      findLastBetween(sure, start, limit) ??
      findLastBetween(possible, start, limit) ??
      findCut(text, start, limit);
    parts.push({ text: text.slice(start, end), start, end });
    start = skipSpace(text, end);
  }
  if (start < last) {
    parts.push({ text: text.slice(start, last), start, end: last });
  }
  return parts;
}

const noEnds = { sure: [], possible: [] };

/** Finds the place to cut a sentence that is too long. */
function findCut(text: string, start: number, limit: number): number {
  // One character more, because a space may follow right after the limit.
  const window = text.slice(start, limit + 1);
  for (const gap of [/\s*[\n\r]/g, /\s+/g]) {
    const cut = [...window.matchAll(gap)].findLast(({ index }) => index > 0);
    if (cut) {
      return start + window.slice(0, cut.index).trimEnd().length;
    }
  }
  // A character has only a few units, so it is enough to segment the end of the window.
  const from = findCharacterStart(text, start, limit);
  const ends = [from, ...findGraphemeEnds(text, from, limit + maxCharacterLength)];
  return findLastBetween(ends, start, limit) ?? limit - (isInsidePair(text, limit) ? 1 : 0);
}

function isInsidePair(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}

const maxCharacterLength = 64;

// Finds a start for the segmentation that is certainly not inside a character.
function findCharacterStart(text: string, start: number, limit: number): number {
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

/** Finds the last of ascending numbers that is above `start` and at most `limit`. */
function findLastBetween(
  ends: readonly number[],
  start: number,
  limit: number,
): number | undefined {
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
