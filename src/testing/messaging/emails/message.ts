import { checkSubject } from '../templates/subject.js';
import { invalidField, isRecord, type Fields } from '../validate.js';
import { readRecipients, readSender } from './addresses.js';

/** messaging, Limits. */
const maxHeaderValue = 998;
const maxAttachments = 10;
const maxMessageBytes = 40 * 1024 * 1024;

/** The body of `POST /v1/send`, checked by itself. */
export type Message = ReturnType<typeof readMessage>;

export function readMessage(fields: Fields) {
  const template = fields.text('template');
  const isBare = template === undefined;
  return {
    to: readRecipients(fields),
    from: readSender(fields),
    template,
    subject: readSubject(fields, isBare),
    body: isBare || fields.has('body') ? fields.requiredText('body') : undefined,
    subscribed: fields.boolean('subscribed'),
    data: fields.record('data'),
    headers: readHeaders(fields),
    reply: fields.email('reply'),
    attachments: readAttachments(fields),
  };
}

/** messaging, Limits: attachments in total, and the whole message. */
export function checkSizes(request: unknown, message: Message, maxAttachmentBytes: number): void {
  // Contents travel as base64, 4 characters for 3 bytes (how the service counts is not shown).
  if (sizeOf(message.attachments) * 0.75 > maxAttachmentBytes) {
    throw invalidField('attachments', 'The attachments are too large.', 'too_large');
  }
  if (sizeOf(request) > maxMessageBytes) {
    throw invalidField('body', 'The whole message must have at most 40 MB.', 'too_large');
  }
}

/** messaging, /v1/send: required without a template; 1 to 998 characters, no newline. */
function readSubject(fields: Fields, isRequired: boolean): string | undefined {
  if (!isRequired && !fields.has('subject')) {
    return undefined;
  }
  const subject = fields.requiredText('subject');
  if (subject !== '') {
    checkSubject(fields);
  }
  return subject;
}

/** messaging, /v1/send: header injection is rejected. */
function readHeaders(fields: Fields): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields.record('headers') ?? {})) {
    const field = `headers.${name.replace(/[\r\n]/g, ' ')}`;
    if (typeof value !== 'string') {
      fields.add(field, 'A header is a string.', 'invalid_type');
    } else if (/[\r\n]/.test(name + value)) {
      fields.add(field, 'A header must not contain CR or LF.');
    } else if (Array.from(value).length > maxHeaderValue) {
      fields.add(field, 'Too long.', 'too_long');
    } else {
      headers[name] = value;
    }
  }
  return headers;
}

/** messaging, /v1/send: at most 10 items; their shape is not shown. */
function readAttachments(fields: Fields): unknown[] {
  const attachments = fields.raw('attachments') ?? [];
  if (!Array.isArray(attachments)) {
    fields.add('attachments', '`attachments` must be an array.', 'invalid_type');
    return [];
  }
  if (attachments.length > maxAttachments) {
    fields.add('attachments', `At most ${maxAttachments} attachments.`, 'too_many');
  }
  for (const [index, item] of attachments.entries()) {
    if (!isRecord(item)) {
      fields.add(`attachments[${index}]`, 'This is no attachment.', 'invalid_type');
    }
  }
  return attachments;
}

/** The bytes of all texts in a value. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') {
    return byteLength(value);
  }
  if (typeof value !== 'object' || value === null) {
    return 0;
  }
  return Object.values(value).reduce((sum: number, part) => sum + sizeOf(part), 0);
}

const byteLength = (text: string) => new TextEncoder().encode(text).length;
