import { type OpenInput, type Timestamp, isIdNumber, isRecord } from '../../core/values.js';

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

// "Ann Lee" <ann@example.com>
const named = /^(?:"((?:[^"\\]|\\.)*)"|([^<>"]*?))\s*<\s*([^<>\s]+)\s*>$/;

/** An email address as it is sent: without the blanks around it. Another value is returned unchanged. */
export function normalizeEmail<Value>(value: Value): Value {
  return typeof value === 'string' ? (value.trim() as Value & string) : value;
}

/**
 * An address of `to` or `from` as it is sent: `Ann <ann@example.com>` is a name and an email, and `address` in
 * the place of `email` is read as other packages do. Another value is returned unchanged.
 */
export function normalizeAddress(value: unknown): unknown {
  if (typeof value === 'string') {
    const text = normalizeEmail(value);
    const [whole, quoted, plain = '', email] = named.exec(text) ?? [];
    const name = quoted?.replace(/\\(.)/g, '$1') ?? plain;
    return whole === undefined ? text : name === '' ? email : { name, email };
  }
  if (!isRecord(value)) {
    return value;
  }
  if (value['email'] === undefined && typeof value['address'] === 'string') {
    const { address, ...rest } = value;
    const email = normalizeEmail(address);
    return rest['name'] === '' ? { email } : { ...rest, email };
  }
  return 'email' in value ? { ...value, email: normalizeEmail(value['email']) } : value;
}

/** The email alone of a normalized address; empty if it has none. */
export function emailIn(value: unknown): string {
  const email = isRecord(value) ? value['email'] : value;
  return typeof email === 'string' ? email : '';
}

/** Makes the `normalize` of a row: some fields of its body are email addresses, or lists of them. */
/* @__NO_SIDE_EFFECTS__ */
export function normalizeEmailsIn(...fields: readonly string[]) {
  return (body: Record<string, unknown>): Record<string, unknown> =>
    mapFields(body, fields, normalizeEmail);
}

/** A copy of a body in which some fields, where they are set, are changed: each is one value or a list. */
export function mapFields(
  body: Record<string, unknown>,
  fields: readonly string[],
  change: (value: unknown) => unknown,
): Record<string, unknown> {
  const changed = fields
    .filter((name) => Object.hasOwn(body, name))
    .map((name) => {
      const value = body[name];
      return [
        name,
        Array.isArray(value) ? value.map((one) => change(one)) : change(value),
      ] as const;
    });
  return { ...body, ...Object.fromEntries(changed) };
}

// Stricter than "something@something" would refuse addresses that the service takes.
const emailForm = /^[^\s@<>]+@[^\s@<>]+$/;

// The same in visible ASCII alone, without quotes or punctuation at the end.
const plainForm = /^[!-;=?A-~]+@[!-;=?A-~]*\w$/;

// It shows nowhere, and makes another address: a copied one often has it.
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFD]/u;

const quotes = '["\'`\u00AB\u00BB\u2018-\u201F\u2039\u203A]';
const quoted = new RegExp(`^${quotes}.*${quotes}$`, 's');

/** Could this be an email address? */
export function isEmail(value: unknown): value is string {
  return emailProblem(value) === undefined;
}

/** Why a value cannot be an email address; `undefined` if it can. The value has been normalized. */
export function emailProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') {
    return 'must be an email address';
  }
  if (plainForm.test(value)) {
    return undefined; // nearly every address
  }
  const [hidden] = invisible.exec(value) ?? [];
  if (hidden !== undefined) {
    const code = hidden.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    return `must be an email address, without the invisible character U+${code}`;
  }
  const [end] = /[,;]$/.exec(value) ?? [];
  if (end !== undefined) {
    return `must be an email address, without the \`${end}\` at its end`;
  }
  if (quoted.test(value)) {
    return 'must be an email address, without the quotes around it';
  }
  if (emailForm.test(value)) {
    return undefined;
  }
  if (/<[^<>]*>$/.test(value)) {
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
