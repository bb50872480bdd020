import type { MessagingClient } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { MethodsFor } from '../../src/core/call/route.js';
import type { Analytics } from 'postreel/messaging';
import type { routes } from '../../src/messaging/analytics.js';

type Rows = MethodsFor<typeof routes>;

declare const messaging: MessagingClient;

it('has exactly the methods of its rows', () => {
  expectTypeOf<Analytics['timeseries']>().toEqualTypeOf<Rows['timeseries']>();
  expectTypeOf<Analytics['topCampaigns']>().toEqualTypeOf<Rows['topCampaigns']>();
  expectTypeOf<Analytics['campaignStats']>().toEqualTypeOf<Rows['campaignStats']>();
  expectTypeOf<Analytics['topEvents']>().toEqualTypeOf<Rows['topEvents']>();
});

it('takes a span of time and fields of your own', () => {
  void messaging.analytics.topCampaigns({ startDate: '2026-11-01', limit: 5, metric: 'clicks' });
  // @ts-expect-error -- a number
  void messaging.analytics.topEvents({ limit: 'all' });
});
