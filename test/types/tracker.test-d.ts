import { expectTypeOf, it } from 'vitest';
import {
  type Outcome,
  type TrackedEvent,
  type Tracker,
  type Transient,
  createTracker,
  transient,
} from 'postreel/tracker';
import { debug } from 'postreel/tracker/extras';
import { createNativeTracker } from 'postreel/tracker/native';
import {
  TrackerProvider,
  createTrackerHooks,
  useTrackOnMount,
  useTracker,
} from 'postreel/tracker/react';

interface Events {
  signed_up: { plan: string; code?: number; at?: Date };
  viewed: { page?: string };
  left: object;
}

declare const tracker: Tracker<Events>;
declare const free: Tracker;

it('tracks the events of a map with their data', () => {
  expectTypeOf(tracker.track('signed_up', { plan: 'pro' })).toEqualTypeOf<TrackedEvent>();
  expectTypeOf(tracker.track('viewed').outcome).resolves.toEqualTypeOf<Outcome>();
  tracker.track('signed_up', { plan: 'pro', at: new Date() }, { email: 'ann@example.com' });
});

it('lets data be left out where no field is required', () => {
  tracker.track('viewed');
  tracker.track('left');
  // @ts-expect-error -- `plan` is required
  tracker.track('signed_up');
});

it('refuses what is not in the map', () => {
  // @ts-expect-error -- no such event
  tracker.track('signed_out');
  // @ts-expect-error -- a plan is a text
  tracker.track('signed_up', { plan: 1 });
  // @ts-expect-error -- no such field
  tracker.track('signed_up', { plan: 'pro', colour: 'red' });
  // @ts-expect-error -- no such option
  tracker.track('viewed', {}, { mail: 'ann@example.com' });
});

it('lets each field of a map be meant for one event only', () => {
  expectTypeOf(transient(1234)).toEqualTypeOf<Transient<number>>();
  tracker.track('signed_up', { plan: transient('pro'), code: transient(1234) });
  // @ts-expect-error -- a code is a number, for one event too
  tracker.track('signed_up', { plan: 'pro', code: transient('1234') });
});

interface Item {
  sku: string;
  price: { amount: number; currency?: string };
  tags: string[];
}
interface Orders {
  bought: { item: Item; others?: Item[] };
}

it('takes nested interfaces, in the page, React, extras and native', () => {
  const orders = createTracker<Orders>({ baseUrl: '' });
  const item: Item = { sku: 'a', price: { amount: 1 }, tags: [] };
  orders.track('bought', { item, others: [item] });
  orders.track('bought', { item: transient(item) });
  TrackerProvider<Orders>({ tracker: orders });
  useTrackOnMount<Orders>('bought', { item });
  createTrackerHooks<Orders>().useTracker().track('bought', { item });
  debug(orders);
  createNativeTracker<Orders>({ baseUrl: '', storage: 'memory' }).track('bought', { item });
  // @ts-expect-error -- a function cannot be sent, at any depth
  createTracker<{ bought: { item: { call: () => void } } }>({ baseUrl: '' });
});

it('refuses reserved names, in a map and without one', () => {
  // @ts-expect-error -- reserved: the service drops it in silence
  createTracker<{ bad: { email: string } }>({ baseUrl: '' });
  // @ts-expect-error -- reserved
  createTracker<{ bad: { plan: string; manageUrl?: string } }>({ baseUrl: '' });
  // @ts-expect-error -- reserved
  free.track('any', { id: 'x' });
  // @ts-expect-error -- reserved
  free.track('any', { svc_email: 'x' });
  free.track('any', { order: { id: 7 } });
});

it('takes any event without a map, with dates, lists and null', () => {
  free.track('any');
  free.track('any', { at: new Date(), list: [1, { deep: true }], gone: null, otp: transient(1) });
  // @ts-expect-error -- a function cannot be sent
  free.track('any', { call: () => 1 });
});

it('knows its options', () => {
  createTracker({ baseUrl: '', maxAge: 86_400_000, delivery: 'no-loss', consent: 'pending' });
  createTracker({ baseUrl: '', maxAge: 60_000, limit: { perSecond: 1, burst: 5 } });
  // @ts-expect-error -- milliseconds, as everywhere
  createTracker({ baseUrl: '', maxAge: '24h' });
  // @ts-expect-error -- no such promise
  createTracker({ baseUrl: '', delivery: 'exactly-once' });
  // @ts-expect-error -- an address is needed
  createTracker({ publicKey: 'pk_test' });
});

it('tells each listener what its notice carries', () => {
  expectTypeOf(tracker.on('paused', ({ status }) => status)).toEqualTypeOf<() => void>();
  tracker.on('retry', ({ id, delayMs }) => [id, delayMs * 2]);
  // @ts-expect-error -- no such notice
  tracker.on('sent', () => undefined);
});

it('keeps the map in React', () => {
  TrackerProvider<Events>({ tracker });
  expectTypeOf(useTracker<Events>()).toEqualTypeOf<Tracker<Events>>();
  useTrackOnMount<Events>('viewed', { page: '/' });
  useTrackOnMount('any', { free: true });
  // @ts-expect-error -- a page is a text
  useTrackOnMount<Events>('viewed', { page: 1 });
});
