import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isRecord } from '../../contract/records.js';
import { emptyBudget, isIdle, type ProjectBudget } from './project-budget.js';
import { withLock } from '../file-lock.js';

/** Changes a budget, and answers what came of it. */
type Change<T> = (budget: ProjectBudget, now: number) => T;

interface Entry {
  readonly group: string;
  readonly change: Change<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

type Budgets = Map<string, ProjectBudget>;

/** A JSON file with the budgets of projects, which several processes change in turn. */
export class BudgetFile {
  readonly #path: string;
  /** Changes that came while the file was locked go together the next time. */
  #waiting: Entry[] = [];
  #isBusy = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Changes a project's budget; no other process can come between. */
  change<T>(group: string, change: Change<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // What comes out of a change goes to whoever asked for it.
      const entry = { group, change, resolve: resolve as (result: unknown) => void, reject };
      this.#waiting.push(entry);
      if (!this.#isBusy) {
        void this.#work();
      }
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) {
      const entries = this.#waiting.splice(0);
      try {
        const results = await this.#apply(entries);
        for (const [index, entry] of entries.entries()) {
          entry.resolve(results[index]);
        }
      } catch (reason) {
        for (const entry of entries) {
          entry.reject(reason);
        }
      }
    }
    this.#isBusy = false;
  }

  async #apply(entries: readonly Entry[]): Promise<unknown[]> {
    await mkdir(dirname(this.#path), { recursive: true });
    const results = await withLock(this.#path, async (lock) =>
      (await lock.isHeld()) ? this.#changeNow(entries) : undefined,
    );
    return results ?? this.#apply(entries); // it stood still for too long, and lost the lock
  }

  // Without a pause between reading and writing: a busy process must not sit on the lock.
  #changeNow(entries: readonly Entry[]): unknown[] {
    const budgets = this.#read();
    const now = Date.now();
    const results = entries.map(({ group, change }) => change(budgetIn(budgets, group), now));
    this.#write(budgets, now);
    return results;
  }

  #read(): Budgets {
    try {
      return budgetsIn(JSON.parse(readFileSync(this.#path, 'utf8')));
    } catch {
      // Not there yet, or torn by a crash of the machine: what it said is lost.
      return budgetsIn(undefined);
    }
  }

  #write(budgets: Budgets, now: number): void {
    const live = [...budgets].filter(([, budget]) => !isIdle(budget, now));
    const text = JSON.stringify({ version: 1, accounts: Object.fromEntries(live) }, asPlain);
    // Whoever reads sees the old file or the new one, never half of it.
    const next = `${this.#path}.next`;
    writeFileSync(next, text, { mode: 0o600 });
    renameSync(next, this.#path);
  }
}

function budgetIn(budgets: Budgets, group: string): ProjectBudget {
  const budget = budgets.get(group) ?? emptyBudget();
  budgets.set(group, budget);
  return budget;
}

function budgetsIn(file: unknown): Budgets {
  const budgets = isRecord(file) && isRecord(file['accounts']) ? file['accounts'] : {};
  return new Map(
    Object.entries(budgets).flatMap(([group, budget]) =>
      isRecord(budget) ? [[group, budgetOf(budget)]] : [],
    ),
  );
}

function budgetOf({ leased, held, closedUntil, places }: Record<string, unknown>): ProjectBudget {
  return {
    leased: timesIn(leased),
    held: Array.isArray(held) ? (held as unknown[]).filter(isTime) : [],
    closedUntil: isTime(closedUntil) ? closedUntil : 0,
    places: timesIn(places),
  };
}

function timesIn(value: unknown): Map<string, number> {
  const times = Object.entries(isRecord(value) ? value : {});
  return new Map(times.flatMap(([id, until]) => (isTime(until) ? [[id, until]] : [])));
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function asPlain(_: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value as Map<string, unknown>) : value; // ids are strings
}
