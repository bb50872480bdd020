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
