import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isRecord } from '../../core/values.js';
import { emptyBudget, isIdle, type ProjectBudget } from './project-budget.js';
import { hasCode } from '../file-system.js';
import { withLock } from '../file-lock.js';

/** Changes a budget, and answers what came of it. */
type Change<T> = (budget: ProjectBudget, now: number) => T;

interface Entry {
  readonly group: string;
  readonly change: Change<unknown>;
  /** May the process end before it is made? */
  readonly isBackground: boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

type Budgets = Map<string, ProjectBudget>;

/** What stands in a file: the budgets, and when it was written. */
interface Contents {
  readonly budgets: Budgets;
  /** The time on the file's own timeline. */
  readonly now: number;
}

/** A JSON file with the budgets of projects, which several processes change in turn. */
export class BudgetFile {
  readonly #path: string;
  /** Changes that came while the file was locked go together the next time. */
  #waiting: Entry[] = [];
  #isBusy = false;
  /** Have the half-written files of dead processes been removed? */
  #isClean = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Changes a project's budget; no other process can come between. */
  change<T>(group: string, change: Change<T>): Promise<T> {
    return this.#add(group, change, false);
  }

  /** The same, but the process does not stay for it where others keep the file locked for long. */
  changeInBackground<T>(group: string, change: Change<T>): Promise<T> {
    return this.#add(group, change, true);
  }

  #add<T>(group: string, change: Change<T>, isBackground: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // What comes out of a change goes to its own caller.
      const settle = resolve as (result: unknown) => void;
      this.#waiting.push({ group, change, isBackground, resolve: settle, reject });
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
    const isBackground = () => [...entries, ...this.#waiting].every((entry) => entry.isBackground);
    const results = await withLock(
      this.#path,
      async (lock) => ((await lock.isHeld()) ? this.#changeNow(entries) : undefined),
      { isBackground },
    );
    return results ?? this.#apply(entries); // it stood still for too long, and lost the lock
  }

  // Without a pause between reading and writing: a busy process must not sit on the lock.
  #changeNow(entries: readonly Entry[]): unknown[] {
    const { budgets, now } = this.#read();
    const results = entries.map(({ group, change }) => change(budgetIn(budgets, group), now));
    this.#write({ budgets, now });
    return results;
  }

  #read(): Contents {
    const text = readText(this.#path);
    try {
      return contentsOf(JSON.parse(text));
    } catch {
      return contentsOf(undefined); // torn by a crash of the machine: what it held is lost
    }
  }

  #write({ budgets, now }: Contents): void {
    const live = [...budgets].filter(([, budget]) => !isIdle(budget, now));
    const file = { version: 1, now, uptimeMs: uptimeMs(), accounts: Object.fromEntries(live) };
    const text = JSON.stringify(file, asPlain);
    if (!this.#isClean) {
      removeLeftovers(this.#path);
    }
    this.#isClean = true;
    replace(this.#path, text);
  }
}

// Only a file that is not there counts as empty. What cannot be read may say that all is taken, and
// a link may lead anywhere.
function readText(path: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW); // Windows has no such flag: 0
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      return '';
    }
    throw error;
  }
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

// A reader sees the old file or the new one, never half of it. There can be no file or link where the
// new one is written, since its name is new each time.
function replace(path: string, text: string): void {
  const next = `${path}.${randomUUID()}.next`;
  try {
    writeFileSync(next, text, { mode: 0o600, flag: 'wx' });
    renameSync(next, path);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
}

// Under the lock no other process writes: what lies there was left by one that died.
function removeLeftovers(path: string): void {
  const folder = dirname(path);
  const isLeftover = (name: string) =>
    name.startsWith(`${basename(path)}.`) && name.endsWith('.next');
  for (const name of readdirSync(folder).filter(isLeftover)) {
    try {
      rmSync(join(folder, name), { force: true });
    } catch {
      // It belongs to another user, and does no harm.
    }
  }
}

function budgetIn(budgets: Budgets, group: string): ProjectBudget {
  const budget = budgets.get(group) ?? emptyBudget();
  budgets.set(group, budget);
  return budget;
}

// The time since the file was written is that of the machine's monotonic clock, which no setting of the
// time of day moves. It starts anew with the machine: then at least so much has passed.
function contentsOf(file: unknown): Contents {
  const { now, uptimeMs: writtenAt, accounts } = isRecord(file) ? file : {};
  if (!isTime(now) || !isTime(writtenAt) || !isRecord(accounts)) {
    return { budgets: new Map(), now: 0 };
  }
  const uptime = uptimeMs();
  const passedMs = uptime >= writtenAt ? uptime - writtenAt : uptime;
  const budgets = Object.entries(accounts).flatMap(([group, budget]) =>
    isRecord(budget) ? [[group, budgetOf(budget)] as const] : [],
  );
  return { budgets: new Map(budgets), now: now + passedMs };
}

/** The monotonic clock that all processes of a machine share. */
function uptimeMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function budgetOf(budget: Record<string, unknown>): ProjectBudget {
  const { leased, held, closedUntil, triedAt, places } = budget;
  return {
    leased: timesIn(leased),
    held: Array.isArray(held) ? (held as unknown[]).filter(isTime) : [],
    closedUntil: isTime(closedUntil) ? closedUntil : 0,
    triedAt: isTime(triedAt) ? triedAt : 0,
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
