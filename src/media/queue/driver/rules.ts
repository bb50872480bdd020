import { ConfigurationError } from '../../../errors/index.js';
import { number, positive, requireThat } from '../../../transport/option-checks.js';
import type { QueueHost } from '../host.js';
import type { QueueOptions } from '../options.js';
import type { QueueRules } from '../steps/state.js';

// Ten calls in ten minutes, with some to spare for the end: a call that carries few videos is a
// call wasted.
const gapMs = 50_000;
const stallMs = 6 * 60 * 60_000;
const outageMs = 24 * 60 * 60_000;
// The answer of another run comes before so much has passed, or never.
const claimMs = 5 * 60_000;

/** The rules of a queue, from its options. */
export function rulesOf(options: QueueOptions, { clock, slots }: QueueHost): QueueRules {
  const { timeout, deadline, stallTimeout, outageTimeout, maxJobs, maxMinutes } = options;
  const concurrency = options.concurrency ?? slots.limit;
  for (const name of ['save', 'key', 'onProgress', 'onUpdate'] as const) {
    requireThat(typeof options[name] === 'function', name, options[name], 'a function');
  }
  return {
    concurrency: Math.min(number('concurrency', concurrency), slots.limit),
    gapMs,
    stallMs: positive('stallTimeout', stallTimeout ?? stallMs),
    outageMs: positive('outageTimeout', outageTimeout ?? outageMs),
    timeoutMs: positive('timeout', timeout ?? Number.POSITIVE_INFINITY),
    deadlineAt: clock.now() + positive('deadline', deadline ?? Number.POSITIVE_INFINITY),
    claimMs,
    maxJobs: capOf('maxJobs', maxJobs),
    maxMinutes: capOf('maxMinutes', maxMinutes),
    mostResults: slots.limit,
  };
}

/** A spending cap of 0 or more; one that is no number must not let everything through, or nothing. */
export function capOf(name: string, cap = Number.POSITIVE_INFINITY): number {
  if (cap >= 0) {
    return cap;
  }
  throw new ConfigurationError(`\`${name}\` must be a number of 0 or more.`, {
    code: 'INVALID_OPTION',
  });
}
