import type { RateBudgetStore } from '../../core/limit/rate-store.js';
import { answerWithin, type Clock } from '../../core/async.js';
import { isMisconfigured, StoreHealth } from '../../core/limit/shared-rate-limit.js';

/** How long a job holds a slot when it is unknown whether the job exists, in milliseconds. */
export const unknownJobHoldMs = 10 * 60_000;

/**
 * The lease time at a store with `hold`, where leases are renewed. When a worker dies, its leases stay this
 * long, because the service still counts its jobs.
 */
const renewedLeaseMs = unknownJobHoldMs;

// The lease time at a store without `hold`: as long as a job may take.
const longLeaseMs = 60 * 60_000;
const askStoreAgainMs = 3_000;
// A store that takes longer than this to respond counts as unreachable.
const maxAnswerMs = 5_000;

/** Leases pending slots from the store that the processes of a project share, if there is a store. */
export class SlotLeases {
  readonly #group: string;
  readonly #clock: Clock;
  #store: RateBudgetStore | undefined;
  /** The leases that could not be given back yet. They are given back with the next call. */
  #toGiveBack: readonly string[] = [];
  /** The names of the leases that the store holds, or that a pending `hold` requests. */
  readonly #heldNames = new Set<string>();
  readonly #health: StoreHealth;
  /** Emits a `warning` at the client that created the slots. */
  warn: (message: string) => void = () => undefined;

  constructor(store: RateBudgetStore | undefined, group: string, clock: Clock) {
    this.#store = store;
    this.#group = group;
    this.#clock = clock;
    this.#health = new StoreHealth((message) => this.warn(message), clock);
  }

  /** Uses this store from now on. Returns false when another store is already in use. */
  setStore(store: RateBudgetStore | undefined): boolean {
    this.#store ??= store;
    return store === undefined || store === this.#store;
  }

  /** Can the store keep leases under the ids of files? */
  get canHold(): boolean {
    return this.#store?.hold !== undefined;
  }

  /** How long to wait before asking a full store again, in milliseconds; 0 without a store. */
  get askAgainMs(): number {
    return this.#store?.lease ? askStoreAgainMs : 0;
  }

  /**
   * Takes up to `count` leases. Returns `undefined` when there is no store, or the store cannot be reached:
   * the process then counts only its slots.
   */
  async take(count: number, limit: number): Promise<readonly string[] | undefined> {
    const store = this.#store;
    if (!store?.lease || count === 0) {
      return undefined;
    }
    this.giveBack([]);
    const leaseMs = store.hold ? renewedLeaseMs : longLeaseMs;
    try {
      const leases = store.lease(this.#group, count, limit, leaseMs);
      const taken = await answerWithin(leases, maxAnswerMs, {
        onLate: (late) => this.giveBack(late),
        clock: this.#clock,
      });
      if (!isList(taken)) {
        throw new TypeError('its response is not a list of leases');
      }
      this.#health.succeeded();
      return taken;
    } catch (reason) {
      if (isMisconfigured(reason)) {
        throw reason;
      }
      this.#health.failed('lease', reason);
      return undefined; // the store cannot be reached
    }
  }

  /** Keeps or renews leases under these names, and gives back the leases in `instead`. */
  hold(names: readonly string[], instead: readonly string[]): void {
    const store = this.#store;
    if (names.length > 0 && store?.hold) {
      this.#toGiveBack = this.#toGiveBack.filter((name) => !names.includes(name));
      names.forEach((name) => this.#heldNames.add(name));
      const call = async () => {
        await store.hold?.(this.#group, names, renewedLeaseMs, instead);
        // A slow store may process this call after a lease was given back, and keep the lease.
        this.giveBack(names.filter((name) => !this.#heldNames.has(name)));
      };
      this.#report('hold', call(), instead);
    }
  }

  /** Gives these leases back, together with those that could not be given back before. */
  giveBack(names: readonly string[]): void {
    const all = [...this.#toGiveBack, ...names];
    const store = this.#store;
    names.forEach((name) => this.#heldNames.delete(name));
    if (all.length > 0 && store?.giveBack) {
      this.#toGiveBack = [];
      const call = async () => store.giveBack?.(this.#group, all);
      this.#report('give back', call(), all);
    }
  }

  // When the store cannot be reached, the leases are given back later. Otherwise their slots would stay
  // blocked until the leases expire.
  #report(step: 'hold' | 'give back', call: Promise<void>, givenBack: readonly string[]): void {
    const answer = answerWithin(call, maxAnswerMs, { onLate: () => undefined, clock: this.#clock });
    answer.then(
      () => this.#health.succeeded(),
      (reason: unknown) => {
        this.#toGiveBack = [...this.#toGiveBack, ...givenBack];
        this.#health.failed(step, reason);
      },
    );
  }
}

// The store is written by the caller and may return anything.
function isList(answer: unknown): boolean {
  return Array.isArray(answer);
}
