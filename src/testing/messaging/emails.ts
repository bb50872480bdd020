import { isRecord } from '../../core/values.js';
import {
  email,
  filled,
  flag,
  isEmail,
  listOf,
  record,
  required,
  text,
  wrong,
  type Complaint,
  type FieldsOf,
  type Rule,
} from '../core/checks.js';
import { Refusal } from '../core/http.js';
import type { FakeAnswer, FakeRequest, Handlers } from '../core/types.js';
import { upsertContact } from './contact-store.js';
import { isVerifiedSender } from './domains.js';
import { deliver, type Mail } from './outbox.js';
import { bodyOf, findOwn, given, invalidField, isoNow, readBody } from './resource.js';
import type { Scope, Template } from './state.js';
import { subject } from './templates.js';

export const handlers: Handlers<Scope> = {
  'POST /v1/send': send,
  'POST /v1/verify': verify,
};

/** messaging, POST /v1/send. */
function send(request: FakeRequest, scope: Scope): FakeAnswer {
  const message = readBody(request, messageRules(bodyOf(request).template === undefined));
  checkSizes(request.body, message, scope.world.settings.maxAttachmentBytes);
  const content = contentOf(scope, message);
  // One after the other, each with its own upsert and rendering: no batch.
  const recipients = [message.to].flat().map(addressOf);
  const emails = recipients.map((address) => sendTo(scope, { message, content, address }));
  return { body: { success: true, data: { emails, timestamp: isoNow(scope) } } };
}

type Content = Pick<
  Mail,
  'from' | 'fromName' | 'replyTo' | 'subject' | 'body' | 'headers' | 'attachments' | 'sourceId'
>;

/** Explicit request fields override those of the template. */
function contentOf(scope: Scope, message: Message): Content {
  const template =
    message.template === undefined
      ? undefined
      : findOwn(scope, ({ templates }) => templates, message.template);
  const sender = senderOf(message) ?? templateSender(template);
  if (sender === undefined) {
    throw invalidField('from', 'is required unless the template has one.', 'required');
  }
  if (!isVerifiedSender(scope.project, sender.email)) {
    const problem = `The domain of ${sender.email} is not verified.`;
    const errors = [{ field: 'from', message: problem, code: 'not_verified' }];
    throw new Refusal(422, 'VALIDATION_ERROR', problem, { errors });
  }
  return {
    from: sender.email,
    subject: message.subject ?? template?.subject ?? '',
    body: message.body ?? template?.body ?? '',
    headers: message.headers ?? {},
    attachments: message.attachments ?? [],
    ...given({
      fromName: sender.name,
      replyTo: message.reply ?? template?.replyTo,
      sourceId: template?.id,
    }),
  };
}

/** messaging, /v1/send: `name` is deprecated, a fallback when `from` is a string without a name. */
function senderOf({ from, name }: Message): Address | undefined {
  return from === undefined
    ? undefined
    : { ...(typeof from === 'string' && given({ name })), ...addressOf(from) };
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
type Message = FieldsOf<ReturnType<typeof messageRules>>;

/** messaging, POST /v1/send; subject and body are required without a template. */
const messageRules = (isBare: boolean) => ({
  to: required(recipients),
  from: address,
  name: text,
  template: text,
  subject: isBare ? required(subject) : subject,
  body: isBare ? required(filled()) : filled(),
  subscribed: flag,
  data: record,
  headers,
  reply: email,
  attachments,
});

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

/** messaging, /v1/send: header injection is rejected. */
const headers: Rule<Record<string, string>> = {
  check(value) {
    return isRecord(value)
      ? Object.entries(value).flatMap(([name, content]) =>
          at(`.${name.replace(/[\r\n]/g, ' ')}`, checkHeader(name, content)),
        )
      : record.check(value);
  },
};

function checkHeader(name: string, value: unknown): Complaint[] {
  if (typeof value !== 'string') {
    return wrong('A header is a string.', 'invalid_type');
  }
  if (/[\r\n]/.test(name + value)) {
    return wrong('A header must not contain CR or LF.');
  }
  return Array.from(value).length > maxHeaderValue ? wrong('Too long.', 'too_long') : [];
}

/** messaging, /v1/send: at most 10 items; their shape is not shown. */
const attachments = listOf(record, maxAttachments);

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

/** An address in `to` or `from`; a string is accepted too. */
interface Address {
  readonly email: string;
  readonly name?: string;
}

const address: Rule<string | Address> = {
  check(value) {
    const { email: mailbox, name } = isRecord(value) ? value : { email: value, name: undefined };
    if (!isEmail(mailbox)) {
      return wrong('must be an email address.', 'invalid_format');
    }
    return name === undefined || name === null ? [] : at('.name', text.check(name));
  },
};

/** messaging, /v1/send: `to` is one recipient or an array of them. */
const recipients: Rule<string | Address | readonly (string | Address)[]> = {
  check(to) {
    if (!Array.isArray(to)) {
      return address.check(to);
    }
    return to.length === 0
      ? wrong('must name a recipient.', 'too_short')
      : to.flatMap((item, index) => at(`.${index}`, address.check(item)));
  },
};

/** Adds the name of the part to the path of each complaint. */
const at = (part: string, complaints: readonly Complaint[]): Complaint[] =>
  complaints.map((complaint) => ({ ...complaint, at: part + (complaint.at ?? '') }));

function addressOf(value: string | Address): Address {
  if (typeof value === 'string') {
    return { email: value };
  }
  return { email: value.email, ...given({ name: value.name ?? undefined }) };
}

/** messaging, POST /v1/verify: decided by short lists of domains, because a fake does not use DNS. */
function verify(request: FakeRequest): FakeAnswer {
  const sent = readBody(request, { email: required(email) });
  return { body: { success: true, data: judge(sent.email) } };
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

function judge(mailbox: string) {
  const separator = mailbox.lastIndexOf('@');
  const domain = mailbox.slice(separator + 1).toLowerCase();
  // `.invalid` never exists (RFC 2606); `no-mx.` and `no-website.` are prefixes that only this fake knows.
  const domainExists = !domain.endsWith('.invalid');
  const facts = {
    isDisposable: disposable.has(domain),
    isAlias: aliasing.has(domain),
    isTypo: typos.has(domain),
    isPlusAddressed: mailbox.slice(0, separator).includes('+'),
    isPersonalEmail: personal.has(domain),
    domainExists,
    hasWebsite: domainExists && !domain.startsWith('no-website.'),
    hasMxRecords: domainExists && !domain.startsWith('no-mx.'),
  };
  const reasons = reasonsAgainst(facts);
  return { email: mailbox, valid: reasons.length === 0, ...facts, reasons };
}

interface Facts {
  readonly isDisposable: boolean;
  readonly isTypo: boolean;
  readonly domainExists: boolean;
  readonly hasMxRecords: boolean;
}

/** An alias, a plus address or a personal provider is reported, but does not make an address invalid. */
function reasonsAgainst({ isDisposable, isTypo, domainExists, hasMxRecords }: Facts): string[] {
  return [
    ...(domainExists ? [] : ['The domain does not exist.']),
    ...(domainExists && !hasMxRecords ? ['The domain has no MX records.'] : []),
    ...(isDisposable ? ['The domain belongs to a disposable email service.'] : []),
    ...(isTypo ? ['The domain looks like a misspelling.'] : []),
  ];
}
