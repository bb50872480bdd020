import type { MessagingClient } from 'postreel';
import { it } from 'vitest';

interface Fields {
  plan: 'free' | 'pro';
  seats: number;
}
declare const typed: MessagingClient<Fields>;
declare const untyped: MessagingClient;
declare const ids: string[];
declare const later: AsyncIterable<string>;
declare const stream: ReadableStream<string>;
// As in browsers, where a stream is not iterable by its type.
declare const domStream: Pick<ReadableStream<string>, 'getReader' | 'cancel' | 'locked'>;
declare const text: string;
const message = { from: 'shop@example.com', subject: 'Hi', body: '<p>Hi</p>' };

it('calls that take many take lists, generators and streams of them', () => {
  for (const rows of [ids, new Set(ids), later, stream, domStream]) {
    void untyped.contacts.deleteAll(rows);
    void untyped.contacts.subscribeAll(rows);
    void untyped.contacts.unsubscribeAll(rows);
    void untyped.contacts.importAll(rows, { newContacts: 'subscribed' });
    void untyped.contacts.lookupAll(rows);
    void untyped.verifyAll(rows);
    void untyped.sendEach(rows, message);
  }
});

it('contacts that were read are rows of a mailing', () => {
  void untyped.sendEach(untyped.contacts.list(), message, { includeUnsubscribed: true });
  void typed.sendEach(typed.contacts.list(), message);
  void untyped.contacts.list().then(({ items }) => untyped.sendEach(items, message));
  void typed.sendEach(typed.segments.members.list('seg_1'), message);
  void untyped.contacts.create({ email: 'a@b.c' }).then((one) => untyped.sendEach([one], message));
});

it('rows of a mailing are records: of `subscribed` a boolean, of `once` a text', () => {
  const email = 'ann@example.com';
  void untyped.sendEach([{ email, subscribed: false, id: 7, createdAt: new Date() }], message);
  void typed.sendEach([{ email, once: 'invoice/1042', data: { plan: 'pro' } }], message);
  // @ts-expect-error -- a text is not a boolean
  void untyped.sendEach([{ email, subscribed: 'false' }], message);
  // @ts-expect-error -- a key that was never set
  void untyped.sendEach([{ email, once: undefined }], message);
  // @ts-expect-error -- not one of the plans
  void typed.sendEach([{ email, data: { plan: 'gold' } }], message);
  // @ts-expect-error -- an email does not have this field
  void untyped.sendEach([{ email, plan: 'pro' }], message);
});

it('a text is no list: its letters are not its rows', () => {
  // @ts-expect-error -- a text is not a list of ids
  void untyped.contacts.deleteAll('123');
  // @ts-expect-error -- a text is not a list of rows
  void untyped.contacts.subscribeAll(text);
  // @ts-expect-error -- a text is not a list of rows
  void untyped.contacts.unsubscribeAll(text);
  // @ts-expect-error -- a text is not a list of rows
  void untyped.contacts.importAll(text);
  // @ts-expect-error -- a text is not a list of rows
  void untyped.contacts.lookupAll(text);
  // @ts-expect-error -- a text is not a list of rows
  void untyped.verifyAll(text);
  // @ts-expect-error -- a text is not a list of rows
  void untyped.sendEach(text, message);
});

it('rows of an import may be written where they are handed over', () => {
  void untyped.contacts.importAll([{ email: 'ann@example.com', plan: 'pro', seats: 3 }]);
  void typed.contacts.importAll([{ email: 'ann@example.com', plan: 'pro', seats: 3 }]);
  // @ts-expect-error -- not one of the plans
  void typed.contacts.importAll([{ email: 'ann@example.com', plan: 'gold' }]);
  // @ts-expect-error -- an email is required
  void untyped.contacts.importAll([{ plan: 'pro' }]);
  // @ts-expect-error -- an import cannot delete a field
  void typed.contacts.importAll([{ email: 'ann@example.com', plan: null }]);
});
