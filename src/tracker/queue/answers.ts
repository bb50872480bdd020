import { LONGEST_WAIT, end, isForeign, rewrite } from './protocol.js';
import { type Entry, Phase, type Queue } from './state.js';

/** Tries after which an event steps aside, or is given up when nothing ever answers. */
const TRIES = 3;

/** What the service said: 0 when nothing came, -1 when nothing came for too long. */
export interface Answer {
  readonly status: number;
  readonly retryAfter?: string | null | undefined;
}

/** Ends an event or keeps it, by the answer to it. */
export const answered = (queue: Queue, entry: Entry, answer: Answer): void => {
  const { status } = answer;
  queue.room += entry.size;
  if (status > 0) {
    queue.misses = 0;
  }
  // Erased, or taken over by another tab.
  if (!queue.entries.includes(entry)) {
    return;
  }
  if (status === 200 || /^4(?!0[1348]|29)/.test(`${status}`)) {
    queue.failures = 0;
    end(queue, entry, status > 299 ? 'rejected' : undefined);
  } else if (isGivenUp(queue, entry, status)) {
    end(queue, entry, 'unconfirmed');
  } else if (!isForeign(queue, entry)) {
    keep(queue, entry, answer);
  }
};

/** Without an answer the service may have the event: is another try a repeat too many? */
const isGivenUp = (queue: Queue, { record, isExit }: Entry, status: number): boolean => {
  const { tries = 0 } = record;
  const isLast = status < 0 || (!status && (isExit || tries + 1 >= TRIES));
  const isAmbiguous = status < 1 || status === 408 || (status > 499 && status !== 503);
  return (
    queue.delivery !== 'no-loss' && (isLast || (isAmbiguous && queue.retryAmbiguous === false))
  );
};

/** Keeps an event that was not taken, for a later try. */
const keep = (queue: Queue, entry: Entry, answer: Answer): void => {
  const { status } = answer;
  const tries = (entry.record.tries ?? 0) + (status === 429 ? 0 : 1);
  const wasExit = entry.isExit;
  entry.phase = Phase.Waiting;
  entry.isExit = false;
  rewrite(queue, entry, { state: 0, tries });
  if (/^[34](?!29|08)/.test(`${status}`)) {
    queue.isPaused = true;
    queue.emit('paused', { status });
  } else if (status || !wasExit) {
    // What fails because the page ends says nothing about the service.
    wait(queue, entry, answer);
  }
};

const wait = (queue: Queue, entry: Entry, { status, retryAfter }: Answer): void => {
  const { tries = 0 } = entry.record;
  const now = queue.now();
  let delayMs = delayOf(`${retryAfter}`, queue.failures++, now);
  if (status < 1 && ++queue.misses > 1) {
    delayMs = LONGEST_WAIT;
    if (queue.misses === 2) {
      queue.emit('blocked', { delayMs });
    }
  }
  queue.until = now + delayMs;
  if (status === 429) {
    queue.hold(queue.until);
  }
  // It may be this event alone: the others go first from now on.
  if (tries >= TRIES) {
    entry.until = now + delayOf('', tries, now);
  }
  queue.emit('retry', { ...entry.record, status, delayMs });
};

/** Milliseconds until the next try: `Retry-After` when readable, else doubling; with jitter. */
export const delayOf = (retryAfter: string, failures: number, now: number): number => {
  const asked = +retryAfter * 1000 || Date.parse(retryAfter) - now;
  const jitter = 1 + Math.random();
  const doubling = 2 ** failures * 500 * jitter;
  return Math.min(LONGEST_WAIT, asked > doubling ? asked + 500 * jitter : doubling);
};
