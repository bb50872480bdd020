import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isRecord } from '../core/values.js';
import { withLock } from './file-lock.js';
import { hasCode } from './file-system.js';

/** The leases by name, each with the time at which it expires. */
export type Leases = Map<string, number>;

/** The budget of one project in the file. All times are points on the timeline of the file. */
export interface ProjectBudget {
  /** The requests of the last window, and those in flight. */
  readonly slots: Leases;
  /** The leases of unfinished jobs. */
  readonly places: Leases;
  /** No request is sent before this time, because the service requested a pause. */
  closedUntil: number;
}

/** Changes a budget and returns the result; expired leases have been removed before. */
type BudgetChange<T> = (budget: ProjectBudget, now: number) => T;

interface BudgetEntry {
  readonly group: string;
  readonly change: BudgetChange<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** A JSON file with the budgets of projects, which several processes change in turn. */
export class BudgetFile {
  readonly #path: string;
  /** Changes that arrived while the file was locked; the next write applies them together. */
  #waiting: BudgetEntry[] = [];
  #isBusy = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Changes a project's budget atomically, without interference by another process. */
  change<T>(group: string, change: BudgetChange<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // as: each result goes to the caller of its change
      const entry = { group, change, resolve: resolve as (result: unknown) => void, reject };
      this.#waiting.push(entry);
      if (!this.#isBusy) {
        void this.#writeWaiting();
      }
    });
  }

  async #writeWaiting(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) {
      const entries = this.#waiting.splice(0);
      try {
        const results = await this.#apply(entries);
        entries.forEach(({ resolve }, index) => resolve(results[index]));
      } catch (reason) {
        entries.forEach(({ reject }) => reject(reason));
      }
    }
    this.#isBusy = false;
  }

  async #apply(entries: readonly BudgetEntry[]): Promise<unknown[]> {
    await mkdir(dirname(this.#path), { recursive: true });
    const results = await withLock(this.#path, async (lock) =>
      (await lock.isHeld()) ? this.#changeNow(entries) : undefined,
    );
    return results ?? this.#apply(entries); // the process stalled for too long, and lost the lock
  }

  // Reads and writes synchronously: a busy process must not hold the lock in between.
  #changeNow(entries: readonly BudgetEntry[]): unknown[] {
    const { budgets, now } = read(this.#path);
    const results = entries.map(({ group, change }) => {
      const budget = budgets.get(group) ?? { slots: new Map(), places: new Map(), closedUntil: 0 };
      budgets.set(group, budget);
      return change(budget, now);
    });
    write(this.#path, { budgets, now });
    return results;
  }
}

/** The contents of a file: the budgets, and the time on the file's timeline. */
interface BudgetFileContents {
  readonly budgets: Map<string, ProjectBudget>;
  readonly now: number;
}

/** The JSON of a file. */
interface StoredBudgetFile {
  readonly now: number;
  /** The machine's monotonic clock when the file was written, in milliseconds. */
  readonly uptimeMs: number;
  readonly projects: readonly [
    group: string,
    slots: readonly [string, number][],
    places: readonly [string, number][],
    closedUntil: number,
  ][];
}

// Reads the file. The time since it was written comes from the machine's monotonic clock, which does not
// depend on the time of day. That clock restarts with the machine: then at least its current value has
// passed.
function read(path: string): BudgetFileContents {
  const file = parseFile(readText(path));
  if (!file) {
    return { budgets: new Map(), now: 0 };
  }
  const uptime = uptimeMs();
  const now = file.now + (uptime >= file.uptimeMs ? uptime - file.uptimeMs : uptime);
  const removeExpired = (leases: readonly [string, number][]) =>
    new Map(leases.filter(([, until]) => until > now));
  const budgets = file.projects.map(([group, slots, places, closedUntil]) => {
    return [
      group,
      { slots: removeExpired(slots), places: removeExpired(places), closedUntil },
    ] as const;
  });
  return { budgets: new Map(budgets), now };
}

// Reads the text; only a missing file counts as empty. A file that cannot be read may say that all slots are
// taken.
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      return '';
    }
    throw error;
  }
}

function parseFile(text: string): StoredBudgetFile | undefined {
  try {
    const file: unknown = JSON.parse(text);
    return isRecord(file) && Array.isArray(file['projects'])
      ? (file as unknown as StoredBudgetFile) // as: it was written so
      : undefined;
  } catch {
    return undefined; // torn by a crash of the machine: its content is lost
  }
}

// Replaces the file, so that a reader sees the old or the new content, never half of it.
function write(path: string, { budgets, now }: BudgetFileContents): void {
  const projects = [...budgets]
    .filter(
      ([, { slots, places, closedUntil }]) => slots.size + places.size > 0 || closedUntil > now,
    )
    .map(([group, { slots, places, closedUntil }]) => [
      group,
      [...slots],
      [...places],
      closedUntil,
    ]);
  const next = `${path}.next`;
  rmSync(next, { force: true }); // left by a dead process, or a link to another place
  writeFileSync(next, JSON.stringify({ now, uptimeMs: uptimeMs(), projects }), {
    mode: 0o600,
    flag: 'wx',
  });
  renameSync(next, path);
}

/** The monotonic clock that all processes of a machine share. */
function uptimeMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
