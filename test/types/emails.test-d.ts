import { transient, type MessagingClient, type SendRequest } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { SendResult } from 'postreel/messaging';

declare const messaging: MessagingClient;
declare const many: readonly string[];

const to = 'ann@example.com';
const content = { from: 'shop@example.com', subject: 'Hi', body: '<p>Hi</p>' };

it('sends a content of its own', () => {
  void messaging.send({ to, ...content });
  void messaging.send({ to, ...content, from: { name: 'Shop', email: 'shop@example.com' } });
  void messaging.send({ to, ...content, reply: 'help@example.com', subscribed: true });
  void messaging.send({ to, ...content, headers: { 'X-Order': '42' }, attachments: [] });
  const link = { url: 'https://example.com/a.pdf', content: undefined };
  void messaging.send({ to, ...content, attachments: [{ content: 'aGk=' }, link] });
  // @ts-expect-error -- an attachment has content
  void messaging.send({ to, ...content, attachments: [{ filename: 'a.txt' }] });
  // @ts-expect-error -- the field is called `content`
  void messaging.send({ to, ...content, attachments: [{ filename: 'a.txt', contents: 'aGk=' }] });
});

it('sends a template, with or without overrides', () => {
  void messaging.send({ to, template: 'tpl_1' });
  void messaging.send({ to, template: 'tpl_1', subject: 'Another subject' });
  void messaging.send({ to, template: 'tpl_1', ...content });
});

it('sends to one recipient or to many, named or not', () => {
  void messaging.send({ to: { email: to }, ...content });
  void messaging.send({ to: { name: 'Ann', email: to }, ...content });
  void messaging.send({ to: [to, { name: 'Bob', email: 'bob@example.com' }], ...content });
  void messaging.send({ to: many, ...content });
});

it('takes every kind of value as data', () => {
  void messaging.send({ to, ...content, data: { plan: null, since: new Date(), ok: true } });
  void messaging.send({ to, ...content, data: { code: transient('A1'), profile: { tier: 1 } } });
});

it('refuses a send without a recipient', () => {
  // @ts-expect-error -- no recipient
  void messaging.send({ ...content });
  // @ts-expect-error -- a name alone is nobody's address
  void messaging.send({ to: { name: 'Ann' }, ...content });
});

it('refuses half a content where no template is named', () => {
  // @ts-expect-error -- neither a template nor a content
  void messaging.send({ to });
  // @ts-expect-error -- no sender
  void messaging.send({ to, subject: 'Hi', body: '<p>Hi</p>' });
  // @ts-expect-error -- no subject
  void messaging.send({ to, from: content.from, body: '<p>Hi</p>' });
  // @ts-expect-error -- no body
  void messaging.send({ to, from: content.from, subject: 'Hi' });
  // @ts-expect-error -- a template that is undefined is none
  void messaging.send({ to, template: undefined });
});

it('refuses the reserved keys of data', () => {
  // @ts-expect-error -- the service drops it in silence
  void messaging.send({ to, ...content, data: { id: 'con_1' } });
  // @ts-expect-error -- the service drops it in silence
  void messaging.send({ to, ...content, data: { email: 'ann@example.com' } });
  // @ts-expect-error -- the service drops it in silence
  void messaging.send({ to, ...content, data: { unsubscribeUrl: 'https://example.com' } });
});

it('refuses fields that a send does not have', () => {
  // @ts-expect-error -- the field is `reply`
  void messaging.send({ to, ...content, replyTo: 'help@example.com' });
  // @ts-expect-error -- a send leaves at once
  void messaging.send({ to, ...content, scheduledFor: new Date() });
  // @ts-expect-error -- a header is a string
  void messaging.send({ to, ...content, headers: { 'X-Order': 42 } });
});

it('answers what was sent', () => {
  expectTypeOf<SendResult['emails']>().items.toEqualTypeOf<{
    contact: { id: string; email: string };
    email: string;
  }>();
  expectTypeOf<Awaited<ReturnType<typeof messaging.send>>>().toEqualTypeOf<SendResult>();
  expectTypeOf<SendRequest['to']>().not.toBeAny();
});

it('verifies one address', () => {
  void messaging.verify({ email: to }).then((verification) => {
    expectTypeOf(verification.valid).toBeBoolean();
    expectTypeOf(verification.reasons).toEqualTypeOf<string[]>();
  });
  // @ts-expect-error -- the address is in a field
  void messaging.verify(to);
});
