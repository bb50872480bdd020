import type { BudgetLimits, RateBudgetStore } from '../contract/rate-budget-store.js';
import { Lanes, type Slot, type Turn } from './lanes.js';
import { RateBudget, type Budget, type RateLimitState } from './rate-budget.js';

// Longer than any attempt lasts by default; a slot of a process that died is free after it.
const leaseMs = 120_000;
const shortestWaitMs = 10;

/** The budget of a project that several processes share through a store. */
export class StoredBudget implements Budget {
  readonly #store: RateBudgetStore;
  readonly #group: string;
  readonly #lanes = new Lanes(() => this.#wakeIfIdle());
  /** Keeps to the limit by itself while the store does not answer. */
  readonly #fallback: RateBudget;
  #limits: BudgetLimits;
  #underWay = 0;
  #isPumping = false;
  #resetsAt: Date | undefined;
  #wake: (() => void) | undefined;

  constructor(store: RateBudgetStore, group: string, limits: BudgetLimits) {
    this.#store = store;
    this.#group = group;
    this.#limits = limits;
    this.#fallback = new RateBudget(limits);
  }

  acquire(turn: Turn): Promise<Slot> {
    const slot = this.#lanes.wait({ ...turn, onWait: () => undefined }, 0);
    void this.#pump(turn);
    return slot;
  }

  close(delayMs: number): void {
    this.#fallback.close(delayMs);
    void this.#store.close(this.#group, delayMs).catch(ignore);
  }

  accepted(): void {
    this.#fallback.accepted();
  }

  adjust(limits: BudgetLimits): void {
    this.#limits = limits;
    this.#fallback.adjust(limits);
  }

  /** `used` counts this process's requests under way: the store alone knows the others'. */
  state(): RateLimitState {
    const { limit } = this.#limits;
    return { limit, used: this.#underWay, queued: this.#lanes.size, resetsAt: this.#resetsAt };
  }

  async #pump(turn: Turn): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#lanes.size > 0) {
      try {
        const answer = await this.#store.take(this.#group, this.#limits, leaseMs);
        if ('slot' in answer) this.#start(answer.slot);
        else await this.#pause(answer.waitMs, turn);
      } catch {
        await this.#startWithoutStore();
      }
    }
    this.#isPumping = false;
  }

  #start(slot: string): void {
    const waiter = this.#lanes.next();
    if (!waiter) {
      void this.#store.cancel(this.#group, slot).catch(ignore);
      return;
    }
    this.#underWay++;
    const end = (settled: Promise<void>) => {
      this.#underWay--;
      settled.catch(ignore);
    };
    waiter.start({
      release: () => end(this.#store.release(this.#group, slot, this.#limits)),
      cancel: () => end(this.#store.cancel(this.#group, slot)),
    });
  }

  async #startWithoutStore(): Promise<void> {
    const waiter = this.#lanes.next();
    if (!waiter) return;
    try {
      waiter.start(await this.#fallback.acquire(waiter.turn));
    } catch (reason) {
      waiter.fail(reason);
    }
  }

  async #pause(waitMs: number, turn: Turn): Promise<void> {
    this.#resetsAt = new Date(Date.now() + waitMs);
    turn.onWait(waitMs, this.#lanes.size);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(shortestWaitMs, waitMs));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
    this.#resetsAt = undefined;
  }

  // When everybody has left, no timer may keep the process alive.
  #wakeIfIdle(): void {
    if (this.#lanes.size === 0) this.#wake?.();
  }
}

function ignore(): void {
  // A store that is gone is noticed when the next slot is asked for.
}
