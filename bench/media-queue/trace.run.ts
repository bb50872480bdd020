import { it } from 'vitest';
import { createFakeMedia } from 'postreel/testing';
import { onFastClock } from './clock.js';
import { simulate, queue, plainCalls } from './simulate.js';
it('traces', async () => {
  void createFakeMedia;
  const policy = process.env['PLAIN'] ? plainCalls : queue;
  const run = await onFastClock(() => simulate(policy, Number(process.env['COUNT'] ?? 100), Number(process.env['SEED'] ?? 1)));
  const byCall = new Map<number, number>();
  for (const { from } of run.videos) byCall.set(Math.round(from * 60), (byCall.get(Math.round(from * 60)) ?? 0) + 1);
  console.log([...byCall].map(([at, n]) => `${at}:${n}`).join(' '));
  console.log(run.ratio, run.minutes, run.boundMinutes, run.calls, 'last from', Math.max(...run.videos.map(v => v.from)));
});
