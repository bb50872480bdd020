import { describe, expect, it } from 'vitest';
import { QueueEstimate } from '../../../../src/media/queue/estimate/estimate.js';
import { entriesOf } from '../../../support/media/scheduler.js';

/** A forecast after thirty files of one minute each, for jobs that were read and jobs that were not. */
function forecastOf(read: number, unread: number) {
  const estimate = new QueueEstimate();
  for (let file = 0; file < 30; file++) {
    estimate.learn({ minutes: 1, startedAt: 0 }, 100_000);
  }
  const limits = { slots: 20, callsMs: (count: number) => count * 60_000, nextCallMs: 0 };
  const ahead = { running: [], waiting: entriesOf(read), ...limits, gapMs: 50_000, unread };
  return estimate.forecast(ahead, 0)()!;
}

describe('the forecast of a long queue', () => {
  it('goes in proportion to its jobs', () => {
    const thousand = forecastOf(400, 600).p50Ms;
    const many = forecastOf(400, 149_600).p50Ms;
    expect(many / thousand).toBeCloseTo(150, 2);
    expect(forecastOf(300, 0).p50Ms * 2).toBeCloseTo(forecastOf(600, 0).p50Ms, -1);
  });

  it('is worked out in no time, however long the queue is', () => {
    const startedAt = performance.now();
    forecastOf(400, 10_000_000);
    expect(performance.now() - startedAt).toBeLessThan(20_000); // not job by job
  });

  it('is nothing for a queue that has nothing left', () => {
    expect(forecastOf(0, 0)).toEqual({ p50Ms: 0, p90Ms: 0 });
  });
});
