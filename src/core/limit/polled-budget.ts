import { sleep, type Clock } from '../async.js';
import { maxPauseMs } from '../call/retry-after.js';
import { hasIoContexts } from '../runtime.js';
import {
  LocalBudget,
  maxInTransitMs,
  queueTimeoutError,
  type QueuedCall,
  type Slot,
} from './rate-limit.js';
import type { BudgetLimits } from './rate-store.js';

/** Creates a budget of this process, of the class that its runtime needs. */
export function createBudget(limits: BudgetLimits, clock: Clock): LocalBudget {
  return hasIoContexts() ? new PolledBudget(limits, clock) : new LocalBudget(limits, clock);
}

// A call that has not checked for its slot for this long is gone: the platform has ended its request.
const staleAfterMs = 5_000;

/**
 * The budget for Cloudflare Workers and Vercel's edge. There no request may resume another one, so nothing grants
 * slots: each waiting call checks for its slot itself, at least once a second. The platform may also end a request
 * at any point, without running the code that would remove its call from the queue or end its slot.
 */
class PolledBudget extends LocalBudget {
  /** The taken slots, oldest first. */
  readonly #leases: { readonly endsAt: number; readonly slot: Slot }[] = [];
  /** When each waiting call last checked for its slot. */
  readonly #checkedAt = new WeakMap<QueuedCall, number>();

  protected override async granted(call: QueuedCall): Promise<Slot> {
    for (;;) {
      const ahead = this.#callsBefore(call);
      if (this.waitMs() === 0 && ahead < this.free(this.clock.now())) {
        return this.take();
      }
      const { reason, waitMs } = this.forecast(ahead);
      if (reason === 'service' && waitMs > maxPauseMs(this.limits.windowMs)) {
        throw queueTimeoutError({ reason, waitMs }, call.request);
      }
      await this.#sleep(Math.min(Math.max(waitMs, 10), 1_000), call);
    }
  }

  protected override waitMs(): number {
    while ((this.#leases[0]?.endsAt ?? Number.POSITIVE_INFINITY) <= this.clock.now()) {
      this.#leases.shift()?.slot.abandon();
    }
    return super.waitMs();
  }

  protected override take(): Slot {
    const slot = super.take();
    this.#leases.push({ endsAt: this.clock.now() + maxInTransitMs, slot });
    return slot;
  }

  protected override pump(): void {
    // each waiting call checks for itself
  }

  protected override refuse(): void {
    // each waiting call sees the pause itself
  }

  /** How many calls are ahead of this one. Removes the calls that are gone. */
  #callsBefore(call: QueuedCall): number {
    const now = this.clock.now();
    this.#checkedAt.set(call, now);
    let ahead = 0;
    for (const other of this.queue.all()) {
      if (other === call) {
        break;
      }
      if (now - (this.#checkedAt.get(other) ?? now) > staleAfterMs) {
        this.queue.leave(other);
      } else {
        ahead++;
      }
    }
    return ahead;
  }

  /** Sleeps for the delay, or until the call is aborted or gives up. */
  async #sleep(delayMs: number, { granted }: QueuedCall): Promise<void> {
    const awake = new AbortController();
    const slept = sleep(delayMs, awake.signal, this.clock).catch(() => undefined);
    await Promise.race([slept, granted]).finally(() => awake.abort());
  }
}
