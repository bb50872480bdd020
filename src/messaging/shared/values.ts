import { type OpenInput, type Timestamp, isRecord } from '../../core/values.js';

/** Which part of a list to get. Other fields are sent unchanged. */
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

/** Removes the blanks around an email address. Returns a value that is not a string unchanged. */
export function normalizeEmail<Value>(value: Value): Value {
  return typeof value === 'string' ? (value.trim() as Value & string) : value;
}

/**
 * Converts an address of `to` or `from` to the form that is sent: `Ann <ann@example.com>` becomes a name and an
 * email. An object may have `address` in place of `email`, as in other packages. Returns any other value unchanged.
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

/** Returns the email of a normalized address, without the name. Returns an empty string if it has none. */
export function emailOf(value: unknown): string {
  const email = isRecord(value) ? value['email'] : value;
  return typeof email === 'string' ? email : '';
}

/** Makes the `normalize` function of a route whose body has these fields with email addresses, or lists of them. */
/* @__NO_SIDE_EFFECTS__ */
export function normalizeEmailsIn(...fields: readonly string[]) {
  return (body: Record<string, unknown>): Record<string, unknown> =>
    mapFields(body, fields, normalizeEmail);
}

/** Copies a body and changes the given fields, if they are set. Each field has one value or a list. */
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

// Only "something@something": a stricter pattern would reject addresses that the service accepts.
const emailForm = /^[^\s@<>]+@[^\s@<>]+$/;

// An address of visible ASCII characters that ends in a letter, a digit or an underscore, not in a quote or comma.
const plainForm = /^[!-;=?A-~]+@[!-;=?A-~]*\w$/;

// An invisible character makes another address of the text. Copied addresses often have one.
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFD]/u;

const quotes = '["\'`\u00AB\u00BB\u2018-\u201F\u2039\u203A]';
const quoted = new RegExp(`^${quotes}.*${quotes}$`, 's');

/** Whether this could be an email address. */
export function isEmail(value: unknown): value is string {
  return emailProblem(value) === undefined;
}

/** Returns the reason why a normalized value cannot be an email address, or `undefined` if it can. */
export function emailProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') {
    return 'must be an email address';
  }
  if (plainForm.test(value)) {
    return undefined; // the fast path of nearly all addresses
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

/** Returns the key by which emails are compared: the service returns them trimmed and in lower case. */
export function emailKey(email: string): string {
  return email.trim().toLowerCase();
}

/** The problem of a value that is not an id. Ids are strings. */
export function idProblem(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? undefined : 'must be an id, as a string';
}
