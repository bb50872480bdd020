import { PostreelError } from '../../../core/errors.js';
import { isAboutKey, notSubmitted } from '../driver/failures.js';
import type { Intake } from '../input/intake.js';
import type { QueueResult } from '../options.js';
import type { ReadEntry } from '../steps/events.js';
import type { QueueKey } from './queue-key.js';

/** What becomes of jobs that no key can make. */
export interface AssignmentListener {
  onFailure(read: ReadEntry, error: unknown): void;
}

/**
 * Shares the jobs of a queue out among its keys. With one key it gets them all; with several, each gets
 * what it has room for, longest first, and a job of an earlier run goes to the key that has it.
 */
export class Assignment {
  readonly #keys: readonly QueueKey[];
  readonly #intake: Intake;
  readonly #listener: AssignmentListener;
  #waiting: ReadEntry[] = [];
  #refusal: unknown;

  constructor(keys: readonly QueueKey[], intake: Intake, listener: AssignmentListener) {
    this.#keys = keys;
    this.#intake = intake;
    this.#listener = listener;
  }

  /** How many jobs wait for a key. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Why no key is left, if none is. */
  get refusal(): { readonly reason: unknown } | undefined {
    const isRefused = this.#keys.every((key) => key.isRefused);
    return isRefused ? { reason: this.#refusal } : undefined;
  }

  /** Takes jobs in, and gives out what has a place. */
  add(entries: readonly ReadEntry[]): void {
    this.#waiting.push(...entries);
    if (this.#keys.length > 1) {
      this.#waiting.sort(longestFirst);
    }
    this.assign();
  }

  /** Gives each key what it has room for. */
  assign(): void {
    if (this.#waiting.length === 0) {
      return;
    }
    const given = new Map<QueueKey, ReadEntry[]>();
    const waiting = this.#waiting;
    this.#waiting = waiting.filter((read) => {
      const key = this.#keyFor(read, (one) => given.get(one)?.length ?? 0);
      if (key) {
        const own = given.get(key) ?? [];
        own.push({ ...read, entry: this.#intake.entryFor(read.entry, key.host) });
        given.set(key, own);
      }
      return key === undefined;
    });
    for (const [key, entries] of given) {
      key.give(entries);
    }
    this.#failHopeless();
  }

  /** The service has refused this key: it submits no more. */
  setAside(key: QueueKey, refusal: unknown): void {
    key.isRefused = true;
    this.#refusal = refusal;
    key.driver.dispatch({ type: 'drain' });
  }

  /** Forgets the jobs that wait. */
  clear(): void {
    this.#waiting = [];
  }

  #keyFor(read: ReadEntry, given: (key: QueueKey) => number): QueueKey | undefined {
    const [first, ...others] = this.#keys;
    if (others.length === 0) {
      return first;
    }
    const owner = ownerOf(read);
    if (owner !== undefined) {
      const own = this.#keysOf(owner);
      return own.find(({ isRefused }) => !isRefused) ?? own[0];
    }
    const roomOf = (key: QueueKey) => key.room - given(key);
    const widest = this.#keys.reduce((one, other) => (roomOf(other) > roomOf(one) ? other : one));
    return roomOf(widest) > 0 ? widest : undefined;
  }

  // The key of an earlier run is not there, or none is left that the service lets in.
  #failHopeless(): void {
    const { refusal } = this;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const read of waiting) {
      const owner = ownerOf(read);
      if (owner !== undefined && this.#keysOf(owner).length === 0) {
        this.#listener.onFailure(read, ownerMissing());
      } else if (refusal) {
        this.#listener.onFailure(read, refusal.reason);
      } else if (this.#keys.every(({ driver }) => driver.state.isDraining)) {
        this.#listener.onFailure(read, notSubmitted('late')); // the deadline: `drain()` forgets them
      } else {
        this.#waiting.push(read);
      }
    }
  }

  #keysOf(owner: string): QueueKey[] {
    return this.#keys.filter((key) => key.owner === owner && !key.driver.state.isOver);
  }
}

/** Has a job failed because its key is refused, so that another one may make it? */
export function isRefusedKey({ job, error }: QueueResult): boolean {
  return !job && isAboutKey(error);
}

// Of a job that was handed in, or may have been: only its own key can follow it.
function ownerOf({ known, problem }: ReadEntry): string | undefined {
  return problem === undefined && known ? (known.owner ?? '') : undefined;
}

function longestFirst({ entry: one }: ReadEntry, { entry: other }: ReadEntry): number {
  return other.minutes - one.minutes || one.index - other.index;
}

function ownerMissing(): PostreelError {
  return new PostreelError(
    'This job was submitted with a key that is not in the pool. Add it, or give the clients of its project a `rateLimit.group`.',
    { code: 'OWNER_MISSING' },
  );
}
