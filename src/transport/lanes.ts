import { RateLimitError } from '../errors/index.js';

/** The right to send one request. */
export interface Slot {
  /** The answer was read, or the call given up: the slot comes free one window from now. */
  release(): void;
  /** The request never left: the slot is free at once. */
  cancel(): void;
}

/** How a call waits for its slot. */
export interface Turn {
  readonly priority: 'interactive' | 'bulk';
  readonly signal: AbortSignal | undefined;
  /** The longest wait that still makes sense; a longer one is refused. */
  readonly maxWaitMs: number;
  /** Was the call refused once already? Then it goes before the others of its lane. */
  readonly isRepeat: boolean;
  onWait(waitMs: number, queued: number): void;
}

/** A call that waits. */
export interface Waiter {
  readonly turn: Turn;
  start(slot: Slot): void;
  fail(reason: unknown): void;
}

/** Calls that wait, interactive ones before bulk ones. */
export class Lanes {
  readonly #lanes: Record<Turn['priority'], Waiter[]> = { interactive: [], bulk: [] };
  readonly #onLeave: () => void;

  /** `onLeave` is called when somebody stops waiting without a slot. */
  constructor(onLeave: () => void) {
    this.#onLeave = onLeave;
  }

  get size(): number {
    return this.#lanes.interactive.length + this.#lanes.bulk.length;
  }

  /** How many calls would go before this one. */
  ahead({ priority, isRepeat }: Turn): number {
    const { interactive, bulk } = this.#lanes;
    if (priority === 'interactive') return isRepeat ? 0 : interactive.length;
    return interactive.length + (isRepeat ? 0 : bulk.length);
  }

  /** Waits for a slot; an abort and `maxWaitMs` end the wait. */
  wait(turn: Turn, expectedMs: number): Promise<Slot> {
    if (expectedMs > turn.maxWaitMs) return Promise.reject(tooLong(expectedMs));
    return new Promise((resolve, reject) => {
      const lane = this.#lanes[turn.priority];
      const { signal } = turn;
      const stop = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const leave = (reason: unknown) => {
        stop();
        const place = lane.indexOf(waiter);
        if (place >= 0) lane.splice(place, 1);
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's reason
        reject(reason);
        this.#onLeave();
      };
      const onAbort = () => leave(signal?.reason);
      const timer = startTimer(turn.maxWaitMs, () => leave(tooLong(expectedMs)));
      const waiter: Waiter = {
        turn,
        start(slot) {
          stop();
          resolve(slot);
        },
        fail: leave,
      };
      if (turn.isRepeat) lane.unshift(waiter);
      else lane.push(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
      turn.onWait(expectedMs, this.size);
    });
  }

  /** The call whose turn it is, taken out of its lane. */
  next(): Waiter | undefined {
    return this.#lanes.interactive.shift() ?? this.#lanes.bulk.shift();
  }
}

function startTimer(delayMs: number, task: () => void) {
  return Number.isFinite(delayMs) ? setTimeout(task, Math.min(delayMs, 2 ** 31 - 1)) : undefined;
}

function tooLong(waitMs: number): RateLimitError {
  const seconds = Math.ceil(waitMs / 1000);
  return new RateLimitError(
    `The rate limit leaves no room in time: about ${seconds} s to wait. Try again later, or allow a longer \`deadline\`.`,
    { code: 'QUEUE_TIMEOUT', outcome: 'not-sent', retryAfterMs: Math.ceil(waitMs) },
  );
}
