import { Refusal } from '../../core/http/refusal.js';
import type { FakeAnswer, FakeRequest } from '../../core/types.js';
import { findOwn } from '../find.js';
import { upsertContact } from '../contacts/store.js';
import { isVerifiedSender } from '../domains/senders.js';
import type { Scope, Template } from '../state.js';
import { given, invalidField, readBody } from '../validate.js';
import type { Address } from './addresses.js';
import { checkSizes, readMessage, type Message } from './message.js';
import { deliver, type Mail } from './outbox.js';

/** messaging, POST /v1/send. */
export function send(request: FakeRequest, scope: Scope): FakeAnswer {
  const message = readBody(request, readMessage);
  checkSizes(request.body, message, scope.world.settings.maxAttachmentBytes);
  const content = contentOf(scope, message);
  // One after the other, each with its own upsert and rendering: no batch.
  const emails = message.to.map((address) => sendTo(scope, { message, content, address }));
  return {
    body: { success: true, data: { emails, timestamp: scope.world.clock.date() } },
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
    throw new Refusal(422, 'UNVERIFIED_SENDER', message, { errors });
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
