import type { MessagingClient, Paginated, TrackedEvent, TrackResult } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { MethodsFor } from '../../src/core/call/route.js';
import type { Events } from 'postreel/messaging';
import type { routes } from '../../src/messaging/events.js';

type Rows = MethodsFor<typeof routes>;
declare const messaging: MessagingClient;

const email = 'ann@example.com';

it('tracks alike under both names', () => {
  expectTypeOf<ReturnType<Rows['track']>>().resolves.toEqualTypeOf<TrackResult>();
});

it('tracks an event of a contact', () => {
  void messaging.track({ email, event: 'order.paid' });
  void messaging.track({ email, event: 'order.paid', data: { total: 42, coupon: null } });
});

it('requires an event, and nothing else that the document leaves open', () => {
  // @ts-expect-error -- no event
  void messaging.track({ email });
  // @ts-expect-error -- the name of an event is its `event`
  void messaging.track({ email, name: 'order.paid' });
  void messaging.track({ event: 'order.paid' });
  void messaging.track({ email, event: 'order.paid', subscribed: true, source: 'shop' });
});

it('refuses fields of the wrong type', () => {
  // @ts-expect-error -- an email is a string
  void messaging.track({ email: 7, event: 'order.paid' });
  // @ts-expect-error -- reserved: the service drops it in silence
  void messaging.track({ email, event: 'order.paid', data: { email } });
});

it('lists open records by open queries', () => {
  expectTypeOf<ReturnType<Events['list']>>().toEqualTypeOf<Paginated<TrackedEvent>>();
  void messaging.events.list({ limit: 5, startDate: new Date(), name: 'order.paid' });
  // @ts-expect-error -- a size is a number
  void messaging.events.list({ limit: '5' });
});
