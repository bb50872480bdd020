import type { Counts } from './driver/results.js';
import type { QueueEstimate } from './estimate.js';
import type { QueueKey } from './keys/queue-key.js';
import type { QueueState } from './steps/state.js';

/** How far the keys of a queue are together. */
export function progressOf(
  keys: readonly QueueKey[],
  { estimate, unassigned, now }: { estimate: QueueEstimate; unassigned: number; now: number },
): Omit<Counts, 'total'> {
  const states = keys.map(({ driver }) => driver.state);
  const sum = (count: (state: QueueState) => number) =>
    states.reduce((all, state) => all + count(state), 0);
  const queued = ({ waiting, claimed, inFlight }: QueueState) =>
    waiting.length + claimed.size + (inFlight?.entries.length ?? 0);
  const ahead = {
    running: states.flatMap(({ running }) =>
      [...running.values()].map(({ entry: { minutes }, startedAt }) => ({ minutes, startedAt })),
    ),
    waiting: states.flatMap(({ waiting, inFlight }) => [...waiting, ...(inFlight?.entries ?? [])]),
    slots: sum(({ rules }) => rules.concurrency),
    callsMs: (count: number) =>
      Math.max(...keys.map(({ host }) => host.callsMs(Math.ceil(count / keys.length)))),
  };
  return {
    pending: sum(({ running, saving }) => running.size + saving.size),
    waiting: unassigned + sum(queued),
    etaMs: estimate.leftMs(ahead, now),
  };
}
