import type { ActivityEntry, MessagingClient, Paginated } from 'postreel';
import { expectTypeOf, it } from 'vitest';

declare const messaging: MessagingClient;

it('takes a span of time and fields of your own', () => {
  const list = messaging.activity.list({ startDate: new Date(), type: 'email.opened' });
  expectTypeOf(list).toEqualTypeOf<Paginated<ActivityEntry>>();
  // @ts-expect-error -- a point in time is a `Date` or a text
  void messaging.activity.stats({ startDate: 1_700_000_000 });
});
