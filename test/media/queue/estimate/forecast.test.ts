import type { MediaJob, QueueForecast, QueueProgress } from 'postreel';
import { expect, it } from 'vitest';
import { JobQueue } from '../../../../src/media/queue/queue.js';
import { calmHost } from '../../../support/media/model/calm.js';
import { Random } from '../../../support/media/model/random.js';
import { VirtualTime } from '../../../support/media/model/time.js';

// `FORECASTS=1000 npx vitest run test/media/queue/estimate` is the long form.
const mixes = Number(process.env['FORECASTS'] ?? 300);

/** Runs a random mix of jobs; the answer is what was forecast after ten of them, and what came. */
async function forecastOf(seed: number): Promise<QueueForecast & { leftMs: number }> {
  const random = new Random(seed);
  const time = new VirtualTime();
  const spread = 0.1 + 0.4 * random.next();
  const minuteMs = 40_000 + 100_000 * random.next();
  const longest = random.whole(2, 9);
  const jobs = Array.from({ length: random.whole(25, 90) }, (_, index): MediaJob => {
    const duration = 1 + (longest - 1) * random.next();
    const prompt = `job ${index}`;
    return { workflowType: 'idea', workflowFormat: 'video', voiceId: 'v', prompt, duration };
  });
  const host = calmHost(time, (job) => {
    const normal =
      Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
    const { duration = 1 } = job as { duration?: number };
    return duration * minuteMs * Math.exp(spread * normal);
  });
  const seen: { at: number; forecast: QueueForecast }[] = [];
  const onProgress = (progress: QueueProgress) => {
    if (seen.length === 0 && progress.done >= 10) {
      seen.push({ at: time.now(), forecast: progress.forecast! });
    }
  };
  const run = { isOver: false };
  const queue = new JobQueue(jobs, { onProgress }, () => Promise.resolve(host));
  void (async () => {
    for await (const { error } of queue) {
      expect(error).toBeUndefined();
    }
    run.isOver = true;
  })();
  await time.settle();
  while (!run.isOver) {
    await time.step();
  }
  const [{ at, forecast }] = seen as [(typeof seen)[number]];
  return { ...forecast, leftMs: time.now() - at };
}

it(`of ${mixes} mixes 85 to 95 % end before the P90, and about half before the P50`, async () => {
  let before90 = 0;
  let before50 = 0;
  for (let seed = 1; seed <= mixes; seed++) {
    const { p50Ms, p90Ms, leftMs } = await forecastOf(seed);
    before90 += leftMs <= p90Ms ? 1 : 0;
    before50 += leftMs <= p50Ms ? 1 : 0;
  }
  console.log(`before P90: ${before90 / mixes}, before P50: ${before50 / mixes}`);
  expect(before90 / mixes).toBeGreaterThanOrEqual(0.85);
  expect(before90 / mixes).toBeLessThanOrEqual(0.95);
  expect(before50 / mixes).toBeGreaterThan(0.35);
  expect(before50 / mixes).toBeLessThan(0.65);
}, 300_000);
