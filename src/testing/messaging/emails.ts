import { isRecord } from '../../core/values.js';
import type { Handlers, FakeAnswer, FakeRequest } from '../core/types.js';
import { Refusal } from '../core/http.js';
import type { Scope, Template } from './state.js';
import { findOwn } from './find.js';
import { upsertContact } from './contact-store.js';
import { isVerifiedSender } from './domains.js';
import { given, invalidField, readBody, type BodyFields, isEmail } from './validate.js';
import { deliver, type Mail } from './outbox.js';
import { checkSubject } from './templates.js';

export const handlers: Handlers<Scope> = {
  'POST /v1/send': send,
  'POST /v1/verify': verify,
};

/** messaging, POST /v1/send. */
export function send(request: FakeRequest, scope: Scope): FakeAnswer {
  const message = readBody(request, readMessage);
  checkSizes(request.body, message, scope.world.settings.maxAttachmentBytes);
  const content = contentOf(scope, message);
  // One after the other, each with its own upsert and rendering: no batch.
  const emails = message.to.map((address) => sendTo(scope, { message, content, address }));
  return {
    body: { success: true, data: { emails, timestamp: scope.world.clock.date().toISOString() } },
  };
}

type Content = Pick<
  Mail,
  'from' | 'fromName' | 'replyTo' | 'subject' | 'body' | 'headers' | 'attachments' | 'sourceId'
>;

/** Explicit request fields override those of the template. */
function contentOf(scope: Scope, message: Message): Content {
  const template =
    message.template === undefined ? undefined : ownTemplate(scope, message.template);
  const sender = message.from ?? templateSender(template);
  if (sender === undefined) {
    throw invalidField('from', '`from` is required unless the template has one.', 'required');
  }
  if (!isVerifiedSender(scope.project, sender.email)) {
    const message = `The domain of ${sender.email} is not verified.`;
    const errors = [{ field: 'from', message, code: 'not_verified' }];
    throw new Refusal(422, 'VALIDATION_ERROR', message, { errors });
  }
  return {
    from: sender.email,
    subject: message.subject ?? template?.subject ?? '',
    body: message.body ?? template?.body ?? '',
    headers: message.headers,
    attachments: message.attachments,
    ...given({
      fromName: sender.name,
      replyTo: message.reply ?? template?.replyTo,
      sourceId: template?.id,
    }),
  };
}

function ownTemplate(scope: Scope, id: string): Template {
  return findOwn(scope, ({ templates }) => templates, id);
}

function templateSender(template: Template | undefined): Address | undefined {
  if (template?.from === undefined) {
    return undefined;
  }
  return { email: template.from, ...given({ name: template.fromName }) };
}

interface Dispatch {
  readonly message: Message;
  readonly content: Content;
  readonly address: Address;
}

function sendTo(scope: Scope, { message, content, address }: Dispatch) {
  const { contact, variables } = upsertContact(scope, address.email, {
    subscribed: message.subscribed,
    data: message.data,
    // messaging, /v1/send: new contacts default to false on this endpoint.
    defaultSubscribed: false,
  });
  const { id } = deliver(scope, {
    ...content,
    ...given({ toName: address.name }),
    to: contact,
    variables,
    source: 'send',
  });
  return { contact: { id: contact.id, email: contact.email }, email: id };
}

/** messaging, Limits. */
const maxHeaderValue = 998;
const maxAttachments = 10;
const maxMessageBytes = 40 * 1024 * 1024;

/** The body of `POST /v1/send`, checked by itself. */
type Message = ReturnType<typeof readMessage>;

function readMessage(fields: BodyFields) {
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
function checkSizes(request: unknown, message: Message, maxAttachmentBytes: number): void {
  // Contents travel as base64, 4 characters for 3 bytes (how the service counts is not shown).
  if (sizeOf(message.attachments) * 0.75 > maxAttachmentBytes) {
    throw invalidField('attachments', 'The attachments are too large.', 'too_large');
  }
  if (sizeOf(request) > maxMessageBytes) {
    throw invalidField('body', 'The whole message must have at most 40 MB.', 'too_large');
  }
}

/** messaging, /v1/send: required without a template; 1 to 998 characters, no newline. */
function readSubject(fields: BodyFields, isRequired: boolean): string | undefined {
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
function readHeaders(fields: BodyFields): Record<string, string> {
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
function readAttachments(fields: BodyFields): unknown[] {
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

/** An address as `to` and `from` take it: a text, or `{ name, email }`. */
export interface Address {
  readonly email: string;
  readonly name?: string;
}

/** messaging, /v1/send: `to` is one recipient or an array of them. */
function readRecipients(fields: BodyFields): Address[] {
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
export function readSender(fields: BodyFields): Address | undefined {
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

function readAddress(fields: BodyFields, field: string, value: unknown): Address[] {
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

/** messaging, POST /v1/verify: judged by small lists, since a fake asks no name server. */
export function verify(request: FakeRequest): FakeAnswer {
  const email = readBody(request, (fields) => fields.requiredEmail('email'));
  return { body: { success: true, data: judge(email) } };
}

const disposable = new Set([
  'mailinator.com',
  'guerrillamail.com',
  'yopmail.com',
  '10minutemail.com',
]);
const personal = new Set(['gmail.com', 'outlook.com', 'hotmail.com', 'yahoo.com', 'icloud.com']);
const aliasing = new Set([
  'duck.com',
  'simplelogin.com',
  'mozmail.com',
  'privaterelay.appleid.com',
]);
const typos = new Set([
  'gmial.com',
  'gamil.com',
  'gmal.com',
  'hotmial.com',
  'yaho.com',
  'outlok.com',
]);

function judge(email: string) {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1).toLowerCase();
  // `.invalid` never exists (RFC 2606); `no-mx.` and `no-website.` are this fake's own words.
  const domainExists = !domain.endsWith('.invalid');
  const facts = {
    isDisposable: disposable.has(domain),
    isAlias: aliasing.has(domain),
    isTypo: typos.has(domain),
    isPlusAddressed: email.slice(0, at).includes('+'),
    isPersonalEmail: personal.has(domain),
    domainExists,
    hasWebsite: domainExists && !domain.startsWith('no-website.'),
    hasMxRecords: domainExists && !domain.startsWith('no-mx.'),
  };
  const reasons = reasonsAgainst(facts);
  return { email, valid: reasons.length === 0, ...facts, reasons };
}

interface Facts {
  readonly isDisposable: boolean;
  readonly isTypo: boolean;
  readonly domainExists: boolean;
  readonly hasMxRecords: boolean;
}

/** Aliases, plus addresses and personal providers are told, but nothing is wrong with them. */
function reasonsAgainst({ isDisposable, isTypo, domainExists, hasMxRecords }: Facts): string[] {
  return [
    ...(domainExists ? [] : ['The domain does not exist.']),
    ...(domainExists && !hasMxRecords ? ['The domain has no MX records.'] : []),
    ...(isDisposable ? ['The domain belongs to a disposable email service.'] : []),
    ...(isTypo ? ['The domain looks like a misspelling.'] : []),
  ];
}
