import * as z from 'zod/mini';

// "1 to 998 characters, no newline" (Limits, "Subject").
const longest = 998;

/** The subject of an email. */
export const subject = z.string().check(
  z.minLength(1),
  z.maxLength(longest),
  z.refine((text) => !/[\r\n]/.test(text), 'must not contain a line break'),
);
