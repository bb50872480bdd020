import type { MessagingClient, Paginated, TrackedEvent, TrackResult } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { MethodsFor } from '../../src/contract/methods.js';
import type { Events } from '../../src/messaging/events/resource.js';
import type { routes, trackingRoutes } from '../../src/messaging/events/routes.js';
import type { Tracking } from '../../src/messaging/events/tracking.js';

type Rows = MethodsFor<typeof routes>;
type TrackingRows = MethodsFor<typeof trackingRoutes>;

declare const messaging: MessagingClient;

const email = 'ann@example.com';

it('has exactly the methods of its rows', () => {
  expectTypeOf<Events['track']>().toEqualTypeOf<Rows['track']>();
  expectTypeOf<Events['list']>().toEqualTypeOf<Rows['list']>();
  expectTypeOf<Events['stats']>().toEqualTypeOf<Rows['stats']>();
  expectTypeOf<Events['listForContact']>().toEqualTypeOf<Rows['listForContact']>();
  expectTypeOf<Events['names']>().toEqualTypeOf<Rows['names']>();
  expectTypeOf<Events['usage']>().toEqualTypeOf<Rows['usage']>();
  expectTypeOf<Events['delete']>().toEqualTypeOf<Rows['delete']>();
  expectTypeOf<Tracking['track']>().toEqualTypeOf<TrackingRows['track']>();
  expectTypeOf<MessagingClient['track']>().toEqualTypeOf<TrackingRows['track']>();
});

it('tracks alike under both names', () => {
  expectTypeOf<Rows['track']>().toEqualTypeOf<TrackingRows['track']>();
  expectTypeOf<ReturnType<Rows['track']>>().resolves.toEqualTypeOf<TrackResult>();
});

it('tracks an event of a contact', () => {
  void messaging.track({ email, event: 'order.paid' });
  void messaging.track({ email, event: 'order.paid', data: { total: 42, coupon: null } });
});

it('refuses half an event', () => {
  // @ts-expect-error -- no event
  void messaging.track({ email });
  // @ts-expect-error -- nobody's event
  void messaging.track({ event: 'order.paid' });
});

it('refuses fields that an event does not have', () => {
  // @ts-expect-error -- a subscription is no part of an event
  void messaging.track({ email, event: 'order.paid', subscribed: true });
  // @ts-expect-error -- reserved: the service drops it in silence
  void messaging.track({ email, event: 'order.paid', data: { email } });
});

it('lists open records by open queries', () => {
  expectTypeOf<ReturnType<Events['list']>>().toEqualTypeOf<Paginated<TrackedEvent>>();
  void messaging.events.list({ limit: 5, startDate: new Date(), name: 'order.paid' });
  // @ts-expect-error -- a size is a number
  void messaging.events.list({ limit: '5' });
});
