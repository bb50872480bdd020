import type { MediaJob, QueueForecast, QueueProgress } from 'postreel';
import { calmRun } from './calm.js';
import { Random } from './random.js';

/** Which shares of so many random mixes end before their P50 and their P90. */
export async function forecastShares(
  mixes: number,
): Promise<{ readonly before50: number; readonly before90: number }> {
  let before50 = 0;
  let before90 = 0;
  for (let seed = 1; seed <= mixes; seed++) {
    const { p50Ms, p90Ms, leftMs } = await forecastOf(seed);
    before50 += leftMs <= p50Ms ? 1 : 0;
    before90 += leftMs <= p90Ms ? 1 : 0;
  }
  return { before50: before50 / mixes, before90: before90 / mixes };
}

/** Runs a random mix of jobs; the answer is what was forecast after ten of them, and what came. */
async function forecastOf(seed: number): Promise<QueueForecast & { leftMs: number }> {
  const random = new Random(seed);
  const spread = 0.1 + 0.4 * random.next();
  const minuteMs = 40_000 + 100_000 * random.next();
  const longest = random.whole(2, 9);
  const jobs = Array.from({ length: random.whole(25, 90) }, (_, index): MediaJob => {
    const duration = 1 + (longest - 1) * random.next();
    const prompt = `job ${index}`;
    return { workflowType: 'idea', workflowFormat: 'video', voiceId: 'v', prompt, duration };
  });
  const tookMs = (job: MediaJob) => {
    const { duration = 1 } = job as { duration?: number };
    return duration * minuteMs * Math.exp(spread * random.normal());
  };
  const seen: { at: number; forecast: QueueForecast }[] = [];
  const endedAt = await calmRun(jobs, tookMs, (progress: QueueProgress, at) => {
    if (seen.length === 0 && progress.done >= 10) {
      seen.push({ at, forecast: progress.forecast! });
    }
  });
  const [{ at, forecast }] = seen as [(typeof seen)[number]];
  return { ...forecast, leftMs: endedAt - at };
}
