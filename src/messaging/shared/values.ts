import { type OpenInput, type Timestamp, isIdNumber } from '../../core/values.js';

/** Which part of a list to get. Other fields are sent as they are. */
export interface ListQuery extends OpenInput {
  /**
   * Items per page, 1 to 100.
   * @default 20 when awaited, 100 when iterated
   */
  limit?: number | undefined;
  /** Where to continue: the `cursor` of a page or an iterator. */
  cursor?: string | undefined;
}

/** A period. The service does not document these names. */
export interface PeriodQuery extends OpenInput {
  startDate?: Timestamp | undefined;
  endDate?: Timestamp | undefined;
}

// Stricter than "something@something" would refuse addresses that the service takes.
const emailForm = /^[^\s@<>]+@[^\s@<>]+$/;

// The same in visible ASCII alone.
const plainForm = /^[!-;=?A-~]+@[!-;=?A-~]+$/;

// It shows nowhere, and makes another address: a copied one often has it.
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFD]/u;

/** Could this be an email address? */
export function isEmail(value: unknown): value is string {
  return emailProblem(value) === undefined;
}

/** Why this cannot be an email address. */
export function emailProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') {
    return 'must be an email address';
  }
  if (plainForm.test(value)) {
    return undefined; // nearly every address
  }
  const [hidden] = invisible.exec(value.trim()) ?? [];
  if (hidden !== undefined) {
    const code = hidden.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    return `must be an email address, without the invisible character U+${code}`;
  }
  if (emailForm.test(value)) {
    return undefined;
  }
  if (/<[^<>]*>\s*$/.test(value)) {
    return 'must be an email address alone, without a name';
  }
  return /@.*[,;\s].*@/.test(value)
    ? 'must be one email address; give several as a list'
    : 'must be an email address';
}

/** Emails come back trimmed and in lower case. */
export function emailKey(email: string): string {
  return email.trim().toLowerCase();
}

/** Could this be an id that the service gave? A number that JSON has rounded is another record's. */
export function isId(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : isIdNumber(value);
}
