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
  storeKey: string,
  claim: Claimed,
  replaced: StoredEntry | undefined,
): Promise<HeldClaim | undefined> {
  const claimedAt = ledger.clock.now();
  const stored = await ledger.claim(storeKey, claim, replaced);
  return stored && new HeldClaim(stored, ledger, claimedAt);
}

/**
 * The claim of a running call. It is renewed before it expires, until `release()`. A renewal increments a
 * counter in the entry, because other processes measure how long the text has not changed. The ledger writes
 * the renewals and the response one after another, so the store holds the response in the end.
 */
export class HeldClaim {
  readonly #ledger: Ledger;
  readonly #limitMs: number;
  #stored: StoredEntry<Claimed>;
  #renewals = 0;
  /** Other processes consider the call to be running until this time. Each confirmed renewal moves it. */
  #aliveUntil: number;
  #stopTimer: () => void = () => undefined;
  #isReleased = false;

  /** @param claimedAt - When the claim was sent to the store, by the ledger's clock. */
  constructor(stored: StoredEntry<Claimed>, ledger: Ledger, claimedAt: number) {
    this.#ledger = ledger;
    this.#stored = stored;
    this.#limitMs = stored.entry.limitMs;
    this.#aliveUntil = claimedAt + this.#limitMs;
    this.#schedule();
  }

  /** Did a renewal come too late? Then other processes treat the outcome as unknown. */
  get hasExpired(): boolean {
    return this.#ledger.clock.now() >= this.#aliveUntil;
  }

  /** Notes that the call has certainly done nothing so far: see `Claimed.idle`. */
  async markIdle(): Promise<void> {
    await this.#change({ ...this.#stored.entry, idle: true });
  }

  /** Stops the renewals. Returns the claim as the store holds it. */
  release(): StoredEntry<Claimed> {
    this.#isReleased = true;
    this.#stopTimer();
    return this.#stored;
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
    const renewed: Claimed = { ...this.#stored.entry, renewals: ++this.#renewals };
    const tried = this.#change(renewed);
    this.#schedule();
    if ((await tried) && !this.#isReleased) {
      this.#aliveUntil = startedAt + this.#limitMs;
    }
  }

  /** Resolves to whether the store has confirmed the change at the first try. */
  #change(claim: Claimed): Promise<boolean> {
    const { stored, tried } = this.#ledger.change(this.#stored, claim);
    this.#stored = stored ?? this.#stored;
    return tried;
  }
}
