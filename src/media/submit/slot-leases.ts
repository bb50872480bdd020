import type { RateBudgetStore } from '../../core/rate-store.js';
import { answerWithin, type Clock } from '../../core/async.js';
import { isMisconfigured, StoreHealth } from '../../core/shared-rate-limit.js';

/** How long a job takes a slot when it is unknown whether it exists. */
export const uncertainMs = 10 * 60_000;

/**
 * A store with `hold` has its leases renewed, each for as long as a job without an owner may go on:
 * the service still counts the jobs of a worker that died.
 */
const renewedLeaseMs = uncertainMs;

// Another store keeps them for as long as a job may take.
const longLeaseMs = 60 * 60_000;
const askStoreAgainMs = 3_000;
// A store that is slower than this is as good as gone.
const maxAnswerMs = 5_000;

/** The leases of pending slots at the store that the processes of a project share, if there is one. */
export class SlotLeases {
  readonly #group: string;
  readonly #clock: Clock;
  #store: RateBudgetStore | undefined;
  /** What was not given back to it, as far as is known. */
  #owed: readonly string[] = [];
  /** The names that it keeps, or will have heard to keep. */
  readonly #kept = new Set<string>();
  readonly #health: StoreHealth;
  /** Tells the client whose queue came last. */
  warn: (message: string) => void = () => undefined;

  constructor(store: RateBudgetStore | undefined, group: string, clock: Clock) {
    this.#store = store;
    this.#group = group;
    this.#clock = clock;
    this.#health = new StoreHealth((message) => this.warn(message), clock);
  }

  /** Uses this store from now on; false when it uses another one. */
  shares(store: RateBudgetStore | undefined): boolean {
    this.#store ??= store;
    return store === undefined || store === this.#store;
  }

  /** Does the store know leases by the ids of files? */
  get canHold(): boolean {
    return this.#store?.hold !== undefined;
  }

  /** When to ask the store again for a slot that it did not have. */
  get askAgainMs(): number {
    return this.#store?.lease ? askStoreAgainMs : 0;
  }

  /** Takes up to so many leases; `undefined` where each process is by itself. */
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
        throw new TypeError('its answer is no list of places');
      }
      this.#health.succeeded();
      return taken;
    } catch (reason) {
      if (isMisconfigured(reason)) {
        throw reason;
      }
      this.#health.failed('lease', reason);
      return undefined; // a store that is gone leaves each process to itself
    }
  }

  /** Keeps leases under these names; those in `instead` are given back for them. */
  hold(names: readonly string[], instead: readonly string[]): void {
    const store = this.#store;
    if (names.length > 0 && store?.hold) {
      this.#owed = this.#owed.filter((name) => !names.includes(name));
      names.forEach((name) => this.#kept.add(name));
      const call = async () => {
        await store.hold?.(this.#group, names, renewedLeaseMs, instead);
        // A slow store may keep a lease after it heard that it was given back.
        this.giveBack(names.filter((name) => !this.#kept.has(name)));
      };
      this.#report('hold', call(), instead);
    }
  }

  /** Gives leases back, and those that the store has not heard of. */
  giveBack(names: readonly string[]): void {
    const all = [...this.#owed, ...names];
    const store = this.#store;
    names.forEach((name) => this.#kept.delete(name));
    if (all.length > 0 && store?.giveBack) {
      this.#owed = [];
      const call = async () => store.giveBack?.(this.#group, all);
      this.#report('give back', call(), all);
    }
  }

  // A store that restarts gets it later: until a lease runs out, its slot could not be used.
  #report(step: 'hold' | 'give back', call: Promise<void>, givenBack: readonly string[]): void {
    const answer = answerWithin(call, maxAnswerMs, { onLate: () => undefined, clock: this.#clock });
    answer.then(
      () => this.#health.succeeded(),
      (reason: unknown) => {
        this.#owed = [...this.#owed, ...givenBack];
        this.#health.failed(step, reason);
      },
    );
  }
}

// A store may answer anything.
function isList(answer: unknown): boolean {
  return Array.isArray(answer);
}
