import type { MessagingClient } from 'postreel';
import { it } from 'vitest';

declare const messaging: MessagingClient;

it('takes a span of time and fields of your own', () => {
  void messaging.analytics.topCampaigns({ startDate: '2026-11-01', limit: 5, metric: 'clicks' });
  // @ts-expect-error -- a number
  void messaging.analytics.topEvents({ limit: 'all' });
});
