import type { Claimed, StoredEntry, Ledger } from './ledger.js';

// Time for the tries of the claim, and for a request that is sent at the end of its timeout.
const graceMs = 20_000;
const maxClaimMs = 5 * 60_000;
const renewEveryMs = 60_000;
// A claim that lives for a minute or less is renewed this long before its end.
const renewBeforeEndMs = 10_000;

/** How long a claim lives without a renewal, for attempts that may take `timeoutMs`. Both in milliseconds. */
export function claimLimitMs(timeoutMs: number): number {
  return Math.min(timeoutMs + graceMs, maxClaimMs);
}

/** Claims a key for a call that is about to be sent: see `Ledger.claim()`. */
export async function holdClaim(
  ledger: Ledger,
  place: string,
  claim: Claimed,
  over: StoredEntry | undefined,
): Promise<HeldClaim | undefined> {
  const claimedAt = ledger.clock.now();
  const known = await ledger.claim(place, claim, over);
  return known && new HeldClaim(known, ledger, claimedAt);
}

/**
 * The claim of a running call. It is renewed before it expires, until `release()`. A renewal increments a
 * counter in the entry, because other processes measure how long the text has not changed. The ledger writes
 * the renewals and the response one after another, so the store holds the response in the end.
 */
export class HeldClaim {
  readonly #ledger: Ledger;
  readonly #limitMs: number;
  #known: StoredEntry<Claimed>;
  #renewals = 0;
  /** Other processes consider the call to be running until this time. Each confirmed renewal moves it. */
  #aliveUntil: number;
  #stopTimer: () => void = () => undefined;
  #isReleased = false;

  /** @param claimedAt - When the claim was sent to the store, by the ledger's clock. */
  constructor(known: StoredEntry<Claimed>, ledger: Ledger, claimedAt: number) {
    this.#ledger = ledger;
    this.#known = known;
    this.#limitMs = known.entry.limitMs;
    this.#aliveUntil = claimedAt + this.#limitMs;
    this.#schedule();
  }

  /** Did a renewal come too late? Then other processes treat the outcome as unknown. */
  get hasExpired(): boolean {
    return this.#ledger.clock.now() >= this.#aliveUntil;
  }

  /** Notes that the call has certainly done nothing so far: see `Claimed.idle`. */
  async markIdle(): Promise<void> {
    await this.#change({ ...this.#known.entry, idle: true });
  }

  /** Stops the renewals. Returns the claim as the store holds it. */
  release(): StoredEntry<Claimed> {
    this.#isReleased = true;
    this.#stopTimer();
    return this.#known;
  }

  #schedule(): void {
    const { clock } = this.#ledger;
    const latestMs = Math.max(this.#limitMs / 2, this.#limitMs - renewBeforeEndMs);
    const at = clock.now() + Math.min(renewEveryMs, latestMs);
    const options = { keepsAlive: false, movesTime: false };
    this.#stopTimer = clock.at(at, () => void this.#renew(), options);
  }

  async #renew(): Promise<void> {
    if (this.hasExpired) {
      return; // a renewal would revive a claim that other processes have seen expire
    }
    const startedAt = this.#ledger.clock.now();
    const renewed: Claimed = { ...this.#known.entry, renewals: ++this.#renewals };
    const tried = this.#change(renewed);
    this.#schedule();
    if ((await tried) && !this.#isReleased) {
      this.#aliveUntil = startedAt + this.#limitMs;
    }
  }

  /** Resolves to whether the store has confirmed the change at the first try. */
  #change(claim: Claimed): Promise<boolean> {
    const { known, tried } = this.#ledger.change(this.#known, claim);
    this.#known = known ?? this.#known;
    return tried;
  }
}
