import type { BudgetLimits } from '../../contract/rate-budget-store.js';
import { monotonicMs } from '../../async/timers.js';
import { bothSlots, type Budget, type RateLimitState, type Slot, type Turn } from './budget.js';
import { LocalBudget } from './local-budget.js';
import { toldOnce } from './priority-queue.js';

/** The limits that one client sets for itself. Its requests count in the project's budget too. */
export class ClientBudget implements Budget {
  readonly #own: LocalBudget;
  readonly #project: Budget;

  constructor(project: Budget, limits: BudgetLimits) {
    this.#project = project;
    this.#own = new LocalBudget(limits);
  }

  async acquire(turn: Turn): Promise<Slot> {
    const givesUpAt = monotonicMs() + turn.maxWaitMs;
    const told = toldOnce(turn);
    const own = await this.#own.acquire(told);
    try {
      const maxWaitMs = givesUpAt - monotonicMs();
      const inProject = await this.#project.acquire({ ...told, maxWaitMs });
      return bothSlots(own, inProject);
    } catch (reason) {
      own.cancel();
      throw reason;
    }
  }

  close(delayMs: number): void {
    this.#project.close(delayMs);
  }

  adjust(limits: BudgetLimits): void {
    this.#own.adjust(limits);
  }

  /** `used` counts the requests of this client. */
  state(): RateLimitState {
    const own = this.#own.state();
    const project = this.#project.state();
    const resets = [own.resetsAt, project.resetsAt].filter((date) => date !== undefined);
    const resetsAt = resets.sort((one, other) => other.getTime() - one.getTime())[0];
    return {
      limit: Math.min(own.limit, project.limit),
      used: own.used,
      queued: own.queued + project.queued,
      resetsAt,
    };
  }
}
