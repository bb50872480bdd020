import type { Attributes, Meter } from '@opentelemetry/api';

/** The measurements; the attributes say which call or job they belong to. */
export interface Metrics {
  /** An attempt has ended. */
  recordAttempt(durationMs: number, attributes: Attributes): void;
  /** A call waited for the rate limit. */
  recordQueueTime(durationMs: number, attributes: Attributes): void;
  recordRetry(attributes: Attributes): void;
  /** A media job is finished. */
  recordJob(durationMs: number, attributes: Attributes): void;
}

const seconds = { unit: 's' };
// The boundaries that the semantic conventions recommend.
const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const longBoundaries = [1, 5, 10, 30, 60, 120, 300, 600, 1_200, 3_600];

/** The instruments of a meter. */
export function createMetrics(meter: Meter): Metrics {
  // Do not use `http.client.request.duration`: an instrumentation of `fetch` would count each request twice.
  const duration = meter.createHistogram('postreel.client.attempt.duration', {
    ...seconds,
    description: 'How long requests take, from leaving to the last byte of the response.',
    advice: { explicitBucketBoundaries: boundaries },
  });
  const queue = meter.createHistogram('postreel.client.queue.duration', {
    ...seconds,
    description: 'How long requests wait for the rate limit.',
    advice: { explicitBucketBoundaries: [...boundaries, 30, 60, 300, 600] },
  });
  const retries = meter.createCounter('postreel.client.retries', {
    unit: '{retry}',
    description: 'Requests that are repeated.',
  });
  const jobs = meter.createHistogram('postreel.media.job.duration', {
    ...seconds,
    description: 'How long media jobs take from their acceptance to their end.',
    advice: { explicitBucketBoundaries: longBoundaries },
  });
  return {
    recordAttempt: (ms, attributes) => duration.record(ms / 1_000, omitUrl(attributes)),
    recordQueueTime: (ms, attributes) => queue.record(ms / 1_000, omitUrl(attributes)),
    recordRetry: (attributes) => retries.add(1, omitUrl(attributes)),
    recordJob: (ms, attributes) => jobs.record(ms / 1_000, attributes),
  };
}

// Removes the full address, which only spans record: a metric stores a series for each value.
function omitUrl(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => name !== 'url.full'));
}
