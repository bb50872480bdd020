import {
  transient,
  type Acknowledgement,
  type BulkJob,
  type Contact,
  type ContactData,
  type ContactLookupResult,
  type ImportJob,
  type JobWaitOptions,
  type MessagingClient,
  type Paginated,
  type StoredData,
} from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { Contacts } from 'postreel/messaging';

declare const messaging: MessagingClient;

it('answers contacts', () => {
  expectTypeOf<ReturnType<Contacts['list']>>().toEqualTypeOf<Paginated<Contact>>();
  expectTypeOf<Awaited<ReturnType<Contacts['get']>>>().toEqualTypeOf<Contact>();
  expectTypeOf<Awaited<ReturnType<Contacts['delete']>>>().toEqualTypeOf<Acknowledgement>();
  expectTypeOf<Contact['data']>().toEqualTypeOf<StoredData | null>();
  void messaging.contacts.create({ email: 'ann@example.com' }).then(({ _meta }) => {
    expectTypeOf(_meta).toEqualTypeOf<{ isNew: boolean; isUpdate: boolean }>();
  });
});

it('waits for jobs with options of their own', () => {
  expectTypeOf<Contacts['waitForImport']>().toEqualTypeOf<
    (jobId: string, options?: JobWaitOptions<ImportJob>) => Promise<ImportJob>
  >();
  expectTypeOf<Contacts['waitForBulkJob']>().toEqualTypeOf<
    (jobId: string, options?: JobWaitOptions<BulkJob>) => Promise<BulkJob>
  >();
});

it('looks up emails from any iterable', () => {
  const answers = messaging.contacts.lookupAll(new Set(['ann@example.com']));
  expectTypeOf(answers).toEqualTypeOf<AsyncIterableIterator<ContactLookupResult>>();
});

it('takes every kind of value as data', () => {
  const data: ContactData = {
    plan: 'pro',
    seats: 3,
    active: true,
    since: new Date(),
    city: null,
    left: undefined,
    tags: ['a', 'b'],
    profile: { tier: 'gold' },
    code: transient('A1'),
    once: { value: 1, persistent: false },
    locale: 'de',
  };
  void messaging.contacts.create({ email: 'ann@example.com', data });
  void messaging.contacts.update('con_1', { data, subscribed: false });
  void messaging.contacts.update('con_1', {});
});

it('refuses each reserved key of data', () => {
  // @ts-expect-error -- the service drops it in silence
  void messaging.contacts.update('con_1', { data: { id: 'x' } });
  // @ts-expect-error -- the service drops it in silence
  void messaging.contacts.update('con_1', { data: { svc_id: 'x' } });
  // @ts-expect-error -- the service drops it in silence
  void messaging.contacts.update('con_1', { data: { svc_email: 'x' } });
  // @ts-expect-error -- the service drops it in silence
  void messaging.contacts.update('con_1', { data: { email: 'x' } });
  // @ts-expect-error -- the service drops it in silence
  void messaging.contacts.update('con_1', { data: { unsubscribeUrl: 'x' } });
  // @ts-expect-error -- the service drops it in silence
  void messaging.contacts.update('con_1', { data: { subscribeUrl: 'x' } });
  // @ts-expect-error -- the service drops it in silence
  void messaging.contacts.update('con_1', { data: { manageUrl: 'x' } });
});

it('refuses values that data cannot hold', () => {
  // @ts-expect-error -- JSON has no such number
  void messaging.contacts.update('con_1', { data: { seats: 3n } });
  // @ts-expect-error -- JSON has no functions
  void messaging.contacts.update('con_1', { data: { plan: () => 'pro' } });
});

it('refuses bodies that the document does not know', () => {
  // @ts-expect-error -- the email is required
  void messaging.contacts.create({ subscribed: true });
  // @ts-expect-error -- core fields live outside `data`
  void messaging.contacts.create({ email: 'ann@example.com', createdAt: new Date() });
  // @ts-expect-error -- the emails are in a field
  void messaging.contacts.lookup(['ann@example.com']);
  // @ts-expect-error -- ids are text
  void messaging.contacts.bulkDelete({ contactIds: [7] });
  // @ts-expect-error -- contacts are listed by cursor
  void messaging.contacts.list({ page: 2 });
  // @ts-expect-error -- a path is no file; `postreel/node` reads one
  void messaging.contacts.import('contacts.csv');
});
