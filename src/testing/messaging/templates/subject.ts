import type { Fields } from '../validate.js';

const maxSubject = 998;

/** messaging, Limits: a subject has 1 to 998 characters and no newline. */
export function checkSubject(fields: Fields): void {
  const subject = fields.raw('subject');
  if (typeof subject !== 'string') {
    return;
  }
  if (subject === '') {
    fields.add('subject', '`subject` must not be empty.', 'too_short');
  }
  if (Array.from(subject).length > maxSubject) {
    fields.add('subject', `\`subject\` must have at most ${maxSubject} characters.`, 'too_long');
  }
  if (/[\r\n]/.test(subject)) {
    fields.add('subject', '`subject` must not contain a line break.', 'invalid_format');
  }
}
