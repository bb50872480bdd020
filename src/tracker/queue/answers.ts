import { MAX_WAIT, end, isForeign, rewrite } from './protocol.js';
import { type Entry, Phase, type Queue } from './state.js';

/** How often an event may be sent whose answers leave open whether the service took it. */
const MAX_TRIES = 3;
/** Failures of one event after which the others go first. */
const MAX_IN_FRONT = 3;

/** What came back: 0 when nothing came, -1 when nothing came for too long. */
export interface Answer {
  readonly status: number;
  readonly retryAfter?: string | null | undefined;
}

/** Ends an event or keeps it, by the answer to it. */
export const answered = (queue: Queue, entry: Entry, answer: Answer): void => {
  const { status } = answer;
  queue.room += entry.size;
  if (status > 0) {
    queue.unanswered = 0;
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

/** True where the service may have taken the event: no answer, 408, and 5xx other than 503. */
const isAmbiguous = (status: number): boolean =>
  status < 1 || status === 408 || (status > 499 && status !== 503);

/** Where the service may have the event: is another try a repeat too many? */
const isGivenUp = (queue: Queue, { record, isExit }: Entry, status: number): boolean => {
  if (queue.delivery === 'no-loss' || !isAmbiguous(status)) {
    return false;
  }
  const isLast = (record.tries ?? 0) + 1 >= MAX_TRIES || queue.retryAmbiguous === false;
  return isLast || status < 0 || (!status && !!isExit);
};

/** Keeps an event that was not taken, for a later try. */
const keep = (queue: Queue, entry: Entry, answer: Answer): void => {
  const { status } = answer;
  const tries = (entry.record.tries ?? 0) + (isAmbiguous(status) ? 1 : 0);
  const wasExit = entry.isExit;
  entry.phase = Phase.Waiting;
  entry.isExit = false;
  rewrite(queue, entry, { state: 0, tries });
  if (/^[34](?!29|08)/.test(`${status}`)) {
    queue.isPaused = true;
    queue.emit('paused', { status });
  } else if (status > 0 || !wasExit) {
    // What fails because the page ends proves nothing about the service.
    wait(queue, entry, answer);
  }
};

const wait = (queue: Queue, entry: Entry, { status, retryAfter }: Answer): void => {
  const now = queue.now();
  let delayMs = delayOf(`${retryAfter}`, queue.failures++, now);
  if (status < 1 && ++queue.unanswered > 1) {
    delayMs = MAX_WAIT;
    if (queue.unanswered === 2) {
      queue.emit('blocked', { delayMs });
    }
  }
  queue.until = now + delayMs;
  if (status === 429) {
    queue.pauseAllTabs(queue.until);
  } else {
    stepAside(entry, status, now);
  }
  queue.emit('retry', { ...entry.record, status, delayMs: Math.max(delayMs, entry.until - now) });
};

/** It may be this event alone that fails: the others go first from now on. */
const stepAside = (entry: Entry, status: number, now: number): void => {
  const failures = (entry.failures ?? 0) + 1;
  entry.failures = failures;
  if (isAmbiguous(status) && (entry.record.tries ?? 0) >= MAX_TRIES - 1) {
    // Its last try is not spent on an outage of a few seconds.
    entry.until = now + MAX_WAIT;
  } else if (failures >= MAX_IN_FRONT) {
    entry.until = now + delayOf('', failures, now);
  }
};

/** Milliseconds until the next try: `Retry-After` when readable, else doubling; with jitter. */
export const delayOf = (retryAfter: string, failures: number, now: number): number => {
  const asked = +retryAfter * 1000 || Date.parse(retryAfter) - now;
  const jitter = 1 + Math.random();
  const doubling = 2 ** failures * 500 * jitter;
  return Math.min(MAX_WAIT, asked > doubling ? asked + 500 * jitter : doubling);
};
