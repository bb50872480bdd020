import type { Claimed, StoredEntry, Ledger } from './ledger.js';

// The tries of a claim, and a request that leaves at the end of its time, fit in.
const graceMs = 20_000;
const maxClaimMs = 5 * 60_000;
const renewEveryMs = 60_000;
// A claim that lives for a minute or less is renewed so long before its end.
const renewBeforeEndMs = 10_000;

/** How long a claim lives without a renewal, for a call whose attempt may take so long. */
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
 * The claim of a running call. It is renewed before its time is over, until `release()`: the entry gets a
 * counter, because other processes measure the age of a text that does not change. A renewal goes through
 * the ledger's writes, as the response does, so that the later of the two stands in the end.
 */
export class HeldClaim {
  readonly #ledger: Ledger;
  readonly #limitMs: number;
  #known: StoredEntry<Claimed>;
  #renewals = 0;
  /** Until then other processes take the call for running, as far as is known here. */
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

  /** Could it not be renewed in time? Then others take the outcome for unknown. */
  get hasExpired(): boolean {
    return this.#ledger.clock.now() >= this.#aliveUntil;
  }

  /** Ends its renewals. Returns the claim as it stands in the store. */
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
      return; // a renewal would bring back a claim that others have seen expire
    }
    const startedAt = this.#ledger.clock.now();
    const renewed: Claimed = { ...this.#known.entry, renewals: ++this.#renewals };
    const { parseItem: known, tried } = this.#ledger.change(this.#known, renewed);
    this.#known = known ?? this.#known;
    this.#schedule();
    if ((await tried) && !this.#isReleased) {
      this.#aliveUntil = startedAt + this.#limitMs;
    }
  }
}
