import { isEmail, isRecord, type Fields } from '../validate.js';

/** An address as `to` and `from` take it: a text, or `{ name, email }`. */
export interface Address {
  readonly email: string;
  readonly name?: string;
}

/** messaging, /v1/send: `to` is one recipient or an array of them. */
export function readRecipients(fields: Fields): Address[] {
  const to = fields.raw('to');
  if (to === undefined || to === null) {
    fields.add('to', '`to` is required.', 'required');
    return [];
  }
  if (!Array.isArray(to)) {
    return readAddress(fields, 'to', to);
  }
  if (to.length === 0) {
    fields.add('to', '`to` must name a recipient.', 'too_short');
  }
  return to.flatMap((item, index) => readAddress(fields, `to.${index}`, item));
}

/** messaging, /v1/send: `name` is deprecated, a fallback when `from` is a string without a name. */
export function readSender(fields: Fields): Address | undefined {
  const from = fields.raw('from');
  const fallback = fields.text('name');
  if (from === undefined) {
    return undefined;
  }
  const [address] = readAddress(fields, 'from', from);
  if (address === undefined || typeof from !== 'string' || fallback === undefined) {
    return address;
  }
  return { ...address, name: fallback };
}

function readAddress(fields: Fields, field: string, value: unknown): Address[] {
  const { email, name } = isRecord(value) ? value : { email: value, name: undefined };
  if (!isEmail(email)) {
    fields.add(field, `\`${field}\` must be an email address.`, 'invalid_format');
    return [];
  }
  if (name === undefined || name === null) {
    return [{ email }];
  }
  if (typeof name === 'string') {
    return [{ email, name }];
  }
  fields.add(`${field}.name`, `\`${field}.name\` must be a string.`, 'invalid_type');
  return [];
}
