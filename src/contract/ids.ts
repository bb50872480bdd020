import { invalidRequest } from '../errors/client-errors.js';

/** Does a field of this name hold an id, or ids? */
export function isIdName(name: string): boolean {
  return idNames.test(name);
}

// The last ones are the fields of answers in which the documents show ids under other names.
const idNames = /^ids?$|_ids?$|[a-z]Ids?$|^(filesCreated|files|contact|event|email|job|cursor)$/;

/** Is this a number that an id may be? A larger one stands for several. */
export function isIdNumber(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** What an id must be, for the sentence that refuses another value. */
export const notAnId = 'must be a string, or a whole number from 0 to 2^53 - 1';

/** Refuses what is no id of the media service, whose ids are texts. */
export function requireTextId(field: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value === '') {
    throw invalidRequest([{ field, message: 'must be an id, as a string' }]);
  }
}

/**
 * Parses JSON without rounding ids: a number that JavaScript cannot hold, and an id beyond 2^53, become
 * the text of their digits. A number that stays a number is the one that was written.
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(longDigits.test(text) ? withDigitsAsText(text) : text) as unknown;
}

// Most answers have none, and are parsed as they are. Spelt out: V8 takes eight times as long for `{16}`.
const longDigits = new RegExp(String.raw`\d`.repeat(16));
// An escape, the end of a text, or a number of many digits. Fractions are measures, and no ids.
const tokens = /\\.|"|-?\d{16,}[\d.eE+-]*/gs;
const integer = /^-?\d+$/;

function withDigitsAsText(text: string): string {
  let start: number | undefined; // of the text that the place is in
  let name = '';
  return text.replace(tokens, (token, offset: number) => {
    if (token === '"') {
      name = start !== undefined && isName(text, offset + 1) ? text.slice(start, offset) : name;
      start = start === undefined ? offset + 1 : undefined;
      return token;
    }
    const isPart = start !== undefined || /[\d.eE+-]/.test(text[offset - 1] ?? '');
    return isPart || !integer.test(token) || isHeld(token, name) ? token : `"${token}"`;
  });
}

function isName(text: string, end: number): boolean {
  const colon = /\s*:/y;
  colon.lastIndex = end;
  return colon.test(text);
}

function isHeld(digits: string, name: string): boolean {
  const number = Number(digits);
  // A list of bare ids is the whole answer, or its `data`.
  const mayBeId = isIdName(name) || name === '' || name === 'data';
  return Number.isSafeInteger(number) || (String(number) === digits && !mayBeId);
}
