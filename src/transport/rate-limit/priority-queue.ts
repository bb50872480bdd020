import type { ThrottledEvent } from '../../contract/events.js';
import { RateLimitError } from '../../errors/index.js';
import { maxDelayMs, monotonicMs } from '../../async/timers.js';
import { WaitQueue, type Waiter } from '../../async/wait-queue.js';
import type { Slot, Turn } from './budget.js';

/** How long a wait will be, and who asks for it. */
export type Forecast = Pick<ThrottledEvent, 'reason' | 'waitMs'>;

interface WaitingTurn {
  readonly turn: Turn;
  readonly givesUpAt: number;
}

/** Calls that wait: interactive ones before bulk ones, repeats before first attempts. */
export class PriorityQueue {
  readonly #queue: WaitQueue<WaitingTurn, Slot>;

  /** `onLeave` is called when a call stops waiting without a slot. */
  constructor(onLeave: () => void) {
    this.#queue = new WaitQueue<WaitingTurn, Slot>(priorities, onLeave);
  }

  get size(): number {
    return this.#queue.size;
  }

  /** How many calls would go before this one. */
  ahead(turn: Turn): number {
    return this.#queue.sizeUpTo(priorityOf(turn));
  }

  /** Waits for a slot; an abort and `maxWaitMs` end the wait. */
  wait(turn: Turn, forecast: () => Forecast): Promise<Slot> {
    const { signal, maxWaitMs } = turn;
    const expected = forecast();
    if (!signal?.aborted && expected.waitMs > maxWaitMs) {
      return Promise.reject(queueTimeout(expected, turn));
    }
    const slot = this.#queue.wait(
      { turn, givesUpAt: monotonicMs() + maxWaitMs },
      {
        signal,
        maxWaitMs,
        priority: priorityOf(turn),
        timeoutError: () => queueTimeout(forecast(), turn),
      },
    );
    if (!signal?.aborted) {
      turn.onWait({ ...expected, queued: this.size });
    }
    return slot;
  }

  /** Gives a slot to the call whose turn it is; `false` when none waits. */
  grant(slot: Slot): boolean {
    const next = this.#queue.peek();
    next?.grant(slot);
    return next !== undefined;
  }

  /** No slot is granted for that long: calls that cannot wait that long fail now rather than later. */
  rejectWaiters(forecast: Forecast, maxMs: number): void {
    const { waitMs } = forecast;
    const opensAt = monotonicMs() + waitMs;
    const isTooLong = ({ data }: Waiter<WaitingTurn, Slot>) =>
      waitMs > maxMs || data.givesUpAt < opensAt;
    for (const waiter of [...this.#queue].filter(isTooLong)) {
      waiter.reject(queueTimeout(forecast, waiter.data.turn));
    }
  }

  /** All who wait, in the order of their turns. */
  turns(): Turn[] {
    return [...this.#queue].map(({ data }) => data.turn);
  }
}

/** The error of a call for which the limit has no room in time. */
export function queueTimeout(
  { reason, waitMs }: Forecast,
  { method, path, limitedBy = 'deadline' }: Pick<Turn, 'method' | 'path' | 'limitedBy'>,
): RateLimitError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const what =
    reason === 'service'
      ? `The service asked to wait, for about ${seconds} s from now.`
      : `The rate limit leaves no room in time: about ${seconds} s to wait.`;
  return new RateLimitError(`${what} Try again later, or allow a longer \`${limitedBy}\`.`, {
    code: 'QUEUE_TIMEOUT',
    outcome: 'not-sent',
    retryAfterMs: Math.min(Math.max(1, Math.ceil(waitMs)), maxDelayMs),
    method,
    path,
  });
}

/** A turn whose wait is reported once, and only when it really waits. */
export function toldOnce(turn: Turn): Turn {
  let isTold = false;
  return {
    ...turn,
    onWait(event) {
      if (isTold || event.waitMs <= 0) {
        return;
      }
      isTold = true;
      turn.onWait(event);
    },
  };
}

const priorities = 4;

/** 0 goes first: interactive calls before bulk ones, repeats before first attempts. */
export function priorityOf({ priority, isRepeat }: Turn): number {
  return (priority === 'interactive' ? 0 : 2) + (isRepeat ? 0 : 1);
}
