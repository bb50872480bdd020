import type { ThrottledEvent } from '../../contract/events.js';
import { RateLimitError } from '../../errors/index.js';
import { monotonicMs } from '../../async/clock.js';
import { onAbort } from '../../async/abort.js';
import { longestDelayMs } from '../../async/timers.js';
import { WaitingLine } from '../../async/wait-queue.js';

/** The right to send one request. It ends once: what comes later changes nothing. */
export interface Slot {
  /** The service took the request and did not refuse it. */
  accepted(): void;
  /** The answer was read: the slot comes free one window from now. */
  release(): void;
  /** Sent, but nobody waits for the answer any more: the service may see it later still. */
  abandon(): void;
  /** The request never left: the slot is free at once. */
  cancel(): void;
}

/** How a call waits for its slot. */
export interface Turn {
  readonly priority: 'interactive' | 'bulk';
  readonly signal: AbortSignal | undefined;
  /** The longest wait that still makes sense; a longer one is refused. */
  readonly maxWaitMs: number;
  /** Was the call sent once already? Then it goes before the others of its lane. */
  readonly isRepeat: boolean;
  onWait(event: ThrottledEvent): void;
}

/** How long a wait will be, and whose wish it is. */
export type Forecast = Pick<ThrottledEvent, 'reason' | 'waitMs'>;

/** A call that waits. */
export interface Waiter {
  readonly turn: Turn;
  start(slot: Slot): void;
  fail(reason: unknown): void;
}

interface Place extends Waiter {
  readonly patienceEndsAt: number;
}

/** Calls that wait: interactive ones before bulk ones, repeats before first attempts. */
export class Lanes {
  /** In the order of {@link rankOf}. */
  readonly #lines = [0, 1, 2, 3].map(() => new WaitingLine<Place>());
  readonly #onLeave: () => void;

  /** `onLeave` is called when somebody stops waiting without a slot. */
  constructor(onLeave: () => void) {
    this.#onLeave = onLeave;
  }

  get size(): number {
    return this.#lines.reduce((sum, line) => sum + line.size, 0);
  }

  /** How many calls would go before this one. */
  ahead(turn: Turn): number {
    return this.#lines.slice(0, rankOf(turn) + 1).reduce((sum, line) => sum + line.size, 0);
  }

  /** Waits for a slot; an abort and `maxWaitMs` end the wait. */
  wait(turn: Turn, forecast: () => Forecast): Promise<Slot> {
    const { signal, maxWaitMs } = turn;
    if (signal?.aborted) {
      return rejected(signal.reason);
    }
    const expected = forecast();
    if (expected.waitMs > maxWaitMs) {
      return Promise.reject(tooLong(expected));
    }
    return new Promise((resolve, reject) => {
      const leave = (reason: unknown) => {
        stop();
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's reason
        reject(reason);
        this.#onLeave();
      };
      const onTimeout = () => {
        leaveLine();
        leave(tooLong(forecast()));
      };
      const leaveLine = this.#line(turn).join({
        turn,
        patienceEndsAt: monotonicMs() + maxWaitMs,
        fail: leave,
        start(slot) {
          stop();
          resolve(slot);
        },
      });
      const timer = startTimer(maxWaitMs, onTimeout);
      const stop = () => {
        leaveLine();
        clearTimeout(timer);
        stopListening();
      };
      const stopListening = onAbort(signal, () => leave(signal?.reason));
      turn.onWait({ ...expected, queued: this.size });
    });
  }

  /** The call whose turn it is, taken out of its lane. */
  next(): Waiter | undefined {
    return this.#lines.find((line) => line.size > 0)?.next();
  }

  /** Nobody goes for that long: those who cannot wait so long fail now rather than later. */
  refuse(forecast: Forecast, longestMs: number): void {
    const { waitMs } = forecast;
    const opensAt = monotonicMs() + waitMs;
    const gone = this.#lines.flatMap((line) =>
      [...line].filter(({ patienceEndsAt }) => waitMs > longestMs || patienceEndsAt < opensAt),
    );
    for (const place of gone) {
      place.fail(tooLong(forecast));
    }
  }

  /** All who wait, in the order of their turns. */
  turns(): Turn[] {
    return this.#lines.flatMap((line) => [...line].map(({ turn }) => turn));
  }

  #line(turn: Turn): WaitingLine<Place> {
    return this.#lines[rankOf(turn)] as WaitingLine<Place>; // ranks go from 0 to 3
  }
}

/** The error of a call for which the limit has no room in time. */
export function tooLong({ reason, waitMs }: Forecast): RateLimitError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const what =
    reason === 'service'
      ? `The service asked everybody to wait, for about ${seconds} s from now.`
      : `The rate limit leaves no room in time: about ${seconds} s to wait.`;
  return new RateLimitError(`${what} Try again later, or allow a longer \`deadline\`.`, {
    code: 'QUEUE_TIMEOUT',
    outcome: 'not-sent',
    retryAfterMs: Math.max(1, Math.ceil(waitMs)),
  });
}

function rejected(reason: unknown): Promise<never> {
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's reason
  return Promise.reject(reason);
}

function rankOf({ priority, isRepeat }: Turn): number {
  return (priority === 'interactive' ? 0 : 2) + (isRepeat ? 0 : 1);
}

function startTimer(delayMs: number, task: () => void) {
  return Number.isFinite(delayMs) ? setTimeout(task, Math.min(delayMs, longestDelayMs)) : undefined;
}
