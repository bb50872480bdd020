/** The shortest program that starts a tracker and tracks one event. This package comes first. */
export const programs: Readonly<Record<string, string>> = {
  postreel: `import { createTracker } from 'postreel/tracker';
    const tracker = createTracker({ publicKey: 'pk_1', baseUrl: 'https://service.invalid', email: 'a@b.c' });
    tracker.track('x', { a: 1 });`,
  '@segment/analytics-next': `import { AnalyticsBrowser } from '@segment/analytics-next';
    const analytics = AnalyticsBrowser.load({ writeKey: 'k' });
    await analytics.track('x', { a: 1 });`,
  'posthog-js': `import posthog from 'posthog-js';
    posthog.init('k', { api_host: 'https://service.invalid' });
    posthog.capture('x', { a: 1 });`,
  '@snowplow/browser-tracker': `import { newTracker, trackSelfDescribingEvent } from '@snowplow/browser-tracker';
    newTracker('sp', 'https://service.invalid', { appId: 'a' });
    trackSelfDescribingEvent({ event: { schema: 's', data: { a: 1 } } });`,
  'mixpanel-browser': `import mixpanel from 'mixpanel-browser';
    mixpanel.init('k');
    mixpanel.track('x', { a: 1 });`,
  '@amplitude/analytics-browser': `import * as amplitude from '@amplitude/analytics-browser';
    amplitude.init('k');
    await amplitude.track('x', { a: 1 }).promise;`,
  '@rudderstack/analytics-js': `import { RudderAnalytics } from '@rudderstack/analytics-js';
    const analytics = new RudderAnalytics();
    analytics.load('k', 'https://service.invalid');
    analytics.track('x', { a: 1 });`,
  '@plausible-analytics/tracker': `import { init, track } from '@plausible-analytics/tracker';
    init({ domain: 'service.invalid' });
    track('x', {});`,
};
