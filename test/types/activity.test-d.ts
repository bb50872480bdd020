import type { ActivityEntry, MessagingClient, Paginated } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { MethodsFor } from '../../src/core/call/route.js';
import type { Activity } from 'postreel/messaging';
import type { routes } from '../../src/messaging/activity.js';

type Rows = MethodsFor<typeof routes>;

declare const messaging: MessagingClient;

it('has exactly the methods of its rows', () => {
  expectTypeOf<Activity['list']>().toEqualTypeOf<Rows['list']>();
  expectTypeOf<Activity['stats']>().toEqualTypeOf<Rows['stats']>();
  expectTypeOf<Activity['recentCount']>().toEqualTypeOf<Rows['recentCount']>();
  expectTypeOf<Activity['types']>().toEqualTypeOf<Rows['types']>();
  expectTypeOf<Activity['upcoming']>().toEqualTypeOf<Rows['upcoming']>();
});

it('takes a span of time and fields of your own', () => {
  const list = messaging.activity.list({ startDate: new Date(), type: 'email.opened' });
  expectTypeOf(list).toEqualTypeOf<Paginated<ActivityEntry>>();
  // @ts-expect-error -- a point in time is a `Date` or a text
  void messaging.activity.stats({ startDate: 1_700_000_000 });
});
