import type { QueueHost } from '../host.js';
import type { QueueOptions } from '../options.js';
import type { QueueRules } from '../steps/state.js';

// Ten calls in ten minutes, with some to spare for the end: a call that carries few videos is a
// call wasted.
const gapMs = 50_000;
const stallMs = 6 * 60 * 60_000;
const outageMs = 24 * 60 * 60_000;
const unknownMs = 10 * 60_000;
// The answer of another run comes before so much has passed, or never.
const claimMs = 5 * 60_000;
// The rest of a list would only be refused as well. A job engine brings the jobs of many for as long as
// its worker lives: there each is refused by itself.
const refusalsForAll = { list: 5, stream: 5, engine: Number.POSITIVE_INFINITY };

/** Where the jobs of a queue come from: a list has an end, the others may have none. */
export type InputKind = keyof typeof refusalsForAll;

/** The rules of a queue, from its options and where its jobs come from. */
export function rulesOf(
  options: QueueOptions,
  { clock, slots }: QueueHost,
  input: InputKind,
): QueueRules {
  const { timeout, deadline, stallTimeout, outageTimeout, unknownTimeout, maxJobs, maxMinutes } =
    options;
  const concurrency = options.concurrency ?? slots.limit;
  return {
    concurrency: Math.min(concurrency, slots.limit),
    gapMs,
    stallMs: stallTimeout ?? stallMs,
    outageMs: outageTimeout ?? outageMs,
    unknownMs: unknownTimeout ?? unknownMs,
    timeoutMs: timeout ?? Number.POSITIVE_INFINITY,
    deadlineAt: clock.now() + (deadline ?? Number.POSITIVE_INFINITY),
    claimMs,
    refusalsForAll: refusalsForAll[input],
    readsPastDeadline: input === 'list',
    maxJobs: maxJobs ?? Number.POSITIVE_INFINITY,
    maxMinutes: maxMinutes ?? Number.POSITIVE_INFINITY,
    maxResults: slots.limit,
  };
}
