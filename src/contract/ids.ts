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
