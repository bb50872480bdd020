import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isRecord } from '../core/values.js';
import { withLock } from './file-lock.js';
import { hasCode } from './file-system.js';

/** Names, with the time until which each is taken. */
export type Leases = Map<string, number>;

/** What a file knows of one project. All times are points on the timeline of the file. */
export interface ProjectBudget {
  /** Requests of the last window, and those under way. */
  readonly slots: Leases;
  /** Places for jobs that are not finished. */
  readonly places: Leases;
  /** Nothing is sent before: the service asked for it. */
  closedUntil: number;
}

/** Changes a budget, and answers what came of it; what has expired is gone already. */
type Change<T> = (budget: ProjectBudget, now: number) => T;

interface BudgetEntry {
  readonly group: string;
  readonly change: Change<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** A JSON file with the budgets of projects, which several processes change in turn. */
export class BudgetFile {
  readonly #path: string;
  /** Changes that came while the file was locked go together the next time. */
  #waiting: BudgetEntry[] = [];
  #isBusy = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Changes a project's budget; no other process can come between. */
  change<T>(group: string, change: Change<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // What comes out of a change goes to its own caller.
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
    return results ?? this.#apply(entries); // it stood still for too long, and lost the lock
  }

  // Without a pause between reading and writing: a busy process must not sit on the lock.
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

/** What is in a file: the budgets, and the time on the file's own timeline. */
interface Contents {
  readonly budgets: Map<string, ProjectBudget>;
  readonly now: number;
}

/** The JSON of a file. */
interface StoredFile {
  readonly now: number;
  /** What the machine's clock said when it was written. */
  readonly uptimeMs: number;
  readonly projects: readonly [
    group: string,
    slots: readonly [string, number][],
    places: readonly [string, number][],
    closedUntil: number,
  ][];
}

// The time since the file was written is that of the machine's monotonic clock, which no setting of the
// time of day moves. It starts anew with the machine: then at least so much has passed.
function read(path: string): Contents {
  const file = parsed(readText(path));
  if (!file) {
    return { budgets: new Map(), now: 0 };
  }
  const uptime = uptimeMs();
  const now = file.now + (uptime >= file.uptimeMs ? uptime - file.uptimeMs : uptime);
  const live = (leases: readonly [string, number][]) =>
    new Map(leases.filter(([, until]) => until > now));
  const budgets = file.projects.map(([group, slots, places, closedUntil]) => {
    return [group, { slots: live(slots), places: live(places), closedUntil }] as const;
  });
  return { budgets: new Map(budgets), now };
}

// Only a file that is not there counts as empty: one that cannot be read may say that all is taken.
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

function parsed(text: string): StoredFile | undefined {
  try {
    const file: unknown = JSON.parse(text);
    return isRecord(file) && Array.isArray(file['projects'])
      ? (file as unknown as StoredFile) // as it was written
      : undefined;
  } catch {
    return undefined; // torn by a crash of the machine: what it held is lost
  }
}

// A reader sees the old file or the new one, never half of it.
function write(path: string, { budgets, now }: Contents): void {
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
  rmSync(next, { force: true }); // of a process that died, or a link to elsewhere
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
