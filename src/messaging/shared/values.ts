import { isIdNumber } from '../../core/values.js';

// Stricter than "something@something" would refuse addresses that the service takes.
const emailForm = /^[^\s@<>]+@[^\s@<>]+$/;

/** Could this be an email address? */
export function isEmail(value: unknown): value is string {
  return typeof value === 'string' && emailForm.test(value);
}

/** Could this be an id that the service gave? A number that JSON has rounded is another record's. */
export function isId(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : isIdNumber(value);
}
