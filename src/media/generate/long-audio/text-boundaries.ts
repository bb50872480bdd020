/** The ends of sentences, as ascending offsets, not counting the white space after them. */
export interface SentenceEnds {
  /** The ends that are certain. */
  readonly sure: readonly number[];
  /** The certain ends, and those that may also be an abbreviation or a quotation. */
  readonly possible: readonly number[];
}

// Common abbreviations of European languages. A wrong one only makes a cut at this place less likely.
const abbreviations =
  'Mr|Mrs|Ms|Messrs|Mx|Dr|Prof|Rev|Hon|Gen|Col|Capt|Lt|Sgt|Sen|Rep|Gov|Pres|Sr|Sra|Srta|Jr|St|Ste|' +
  'Mt|Ave|Blvd|Rd|vs|etc|al|cf|approx|ca|No|Nos|Nr|pp|p|Vol|Fig|Figs|Eq|Sec|Ch|Ed|Eds|Inc|Ltd|Co|' +
  'Corp|Dept|Est|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun|' +
  'Hr|Fr|bzw|usw|ggf|evtl|Str|Abs|Art|Bd|Mme|Mlle|MM|av|Ud|Uds|Sig|Dott|ecc';
const opening = String.raw`(?:^|[\s("'«‹“„‘\[–—-])`;
// An abbreviation, initials as in "J. K." or "e.g.", or a number as in the German "am 3. Oktober".
const uncertain = new RegExp(
  String.raw`${opening}(?:(?:${abbreviations})|(?:\p{L}\.)*\p{L}|\d{1,2})\.["'»›”’)\]]*$`,
  'iu',
);
// The number of characters before an end that are tested for an abbreviation.
const tailLength = 24;
const windowLength = 8_192;

/** Finds the ends of sentences. A single line break counts as a space, because prose is often wrapped. */
export function findSentenceEnds(text: string): SentenceEnds {
  const sure: number[] = [];
  const possible: number[] = [];
  // For Unicode an ellipsis does not end a sentence, but a full stop before a capital letter does.
  const flat = text.replace(/\s*[\n\r]\s*/g, joinLine).replaceAll('…', '.');
  for (const end of findEndsInWindows(flat)) {
    const last = possible.at(-1) ?? 0;
    const at = last + flat.slice(last, end).trimEnd().length;
    if (at === last) {
      continue;
    }
    possible.push(at);
    if (isSure(flat, at, end)) {
      sure.push(at);
    }
  }
  return { sure, possible };
}

// Segments the text in windows: in V8 each step takes time in proportion to the length of the whole text.
function* findEndsInWindows(text: string): Generator<number> {
  let size = windowLength;
  for (let from = 0; from < text.length;) {
    const ends = findSegmentEnds(text.slice(from, from + size), 'sentence').map(
      (end) => from + end,
    );
    // The window may have cut the last sentence short.
    const whole = from + size < text.length ? ends.slice(0, -1) : ends;
    yield* whole;
    from = whole.at(-1) ?? from;
    size = whole.length > 0 ? windowLength : 2 * size;
  }
}

/** The ends of the characters in a range of text, as people see them: an emoji is one character. */
export function findGraphemeEnds(text: string, from: number, to: number): number[] {
  return findSegmentEnds(text.slice(from, to), 'grapheme').map((end) => from + end);
}

// Replaces a single line break by a space and keeps a blank line, which ends a paragraph. The length of the
// text does not change.
function joinLine(space: string): string {
  const breaks = space.match(/\r\n|\n|\r/g) ?? [];
  return breaks.length > 1 ? space : space.replace(/[\n\r]/g, ' ');
}

function isSure(text: string, at: number, next: number): boolean {
  if (/[\n\r]/.test(text.slice(at, next))) {
    return true;
  }
  const isContinued = /^\p{Ll}/u.test(text.slice(next, next + 2));
  return !isContinued && !uncertain.test(text.slice(Math.max(0, at - tailLength), at));
}

function findSegmentEnds(text: string, granularity: 'sentence' | 'grapheme'): number[] {
  // Some engines, such as Hermes, have no segmenter.
  const { Segmenter } = Intl as { Segmenter?: typeof Intl.Segmenter };
  if (!Segmenter) {
    return findRoughEnds(text, granularity);
  }
  const segments = new Segmenter('en', { granularity }).segment(text);
  return Array.from(segments, ({ index, segment }) => index + segment.length);
}

// Chinese and Japanese put no space between sentences.
const roughSentence = /[.!?…؟۔।]["'”’»)\]]*\s+|[。！？][”’」』）]*\s*|\n\s*\n/g;
const roughCharacter = /(?:\p{RI}\p{RI}|.)(?:\p{M}|\p{EMod}|\u200c|\u200d.)*/gsu;

function findRoughEnds(text: string, granularity: 'sentence' | 'grapheme'): number[] {
  const pattern = granularity === 'sentence' ? roughSentence : roughCharacter;
  const ends = Array.from(text.matchAll(pattern), ({ index, 0: match }) => index + match.length);
  return ends.at(-1) === text.length ? ends : [...ends, text.length];
}
