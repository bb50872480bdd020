import { monotonicMs } from '../../async/clock.js';
import type { RateBudgetStore } from '../../contract/rate-budget-store.js';
import type { OutstandingJobs } from '../jobs/outstanding.js';

/** A place among the jobs that the service has not finished. */
export interface Slot {
  /** The job is finished, or never began. */
  free(): void;
  /** Nobody watches the job any more: its place is taken for about so long. */
  freeAfter(delayMs: number): void;
}

/** A job whose fate is unknown may take a place for about so long. */
export const uncertainMs = 10 * 60_000;

// A place of a process that died is free after the longest job.
const leaseMs = 60 * 60_000;
const askAgainMs = 3_000;

/**
 * Counts the jobs that are queued or processing, so that no call goes over the service's limit.
 * With a store the places are leased for all processes.
 */
export class PendingSlots {
  readonly limit: number;
  #store: RateBudgetStore | undefined;
  readonly #group: string;
  #taken = 0;
  readonly #listeners = new Set<() => void>();
  readonly #outstanding = new Map<string, Slot>();
  #beside: OutstandingJobs | undefined;

  constructor(limit: number, store: RateBudgetStore | undefined, group: string) {
    this.limit = limit;
    this.#store = store;
    this.#group = group;
  }

  /** Leases the places of a store from now on; false when they are leased of another one. */
  shares(store: RateBudgetStore | undefined): boolean {
    this.#store ??= store;
    return store === undefined || store === this.#store;
  }

  /** How many places this process sees as free. */
  get open(): number {
    return Math.max(0, this.limit - this.#taken);
  }

  /** How long to wait before asking again when no place of this process comes free. */
  get askAgainMs(): number {
    return this.#store?.lease ? askAgainMs : Number.POSITIVE_INFINITY;
  }

  /** Takes as many places as are free, up to a number. */
  async take(count: number): Promise<Slot[]> {
    const wanted = Math.min(count, this.open);
    if (wanted <= 0) {
      return [];
    }
    this.#taken += wanted;
    const leases = await this.#lease(wanted);
    this.#taken -= wanted - leases.length;
    return leases.map((lease) => this.#slot(lease));
  }

  /** Counts a job that was handed in without asking; it takes a place whether one is open or not. */
  count(): Slot {
    this.#taken++;
    return this.#slot(undefined);
  }

  /** Counts the jobs that were submitted beside the queues, each for as long as a job may take. */
  countBeside(jobs: OutstandingJobs): void {
    if (this.#beside === jobs) {
      return;
    }
    this.#beside = jobs;
    jobs.onChange(() => this.#follow(jobs));
    this.#follow(jobs);
  }

  /** Calls back whenever a slot of this process comes free. */
  onFree(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #follow(jobs: OutstandingJobs): void {
    const fileIds = new Set<string>();
    for (const { fileId, since } of jobs) {
      fileIds.add(fileId);
      if (this.#outstanding.has(fileId)) {
        continue;
      }
      this.#outstanding.set(fileId, this.count());
      later(since + uncertainMs - monotonicMs(), () => jobs.end(fileId));
    }
    for (const [fileId, slot] of this.#outstanding) {
      if (fileIds.has(fileId)) {
        continue;
      }
      this.#outstanding.delete(fileId);
      slot.free();
    }
  }

  async #lease(count: number): Promise<readonly (string | undefined)[]> {
    const own = new Array<undefined>(count).fill(undefined);
    try {
      return (await this.#store?.lease?.(this.#group, count, this.limit, leaseMs)) ?? own;
    } catch {
      return own; // a store that is gone leaves each process to itself
    }
  }

  #slot(lease: string | undefined): Slot {
    let isTaken = true;
    const free = () => {
      if (!isTaken) {
        return;
      }
      isTaken = false;
      this.#taken--;
      if (lease !== undefined) {
        this.#giveBack(lease);
      }
      for (const listener of this.#listeners) {
        listener();
      }
    };
    return { free, freeAfter: (delayMs) => later(delayMs, free) };
  }

  #giveBack(lease: string): void {
    this.#store?.giveBack?.(this.#group, [lease]).catch(() => undefined); // its lease runs out
  }
}

const projects = new Map<string, PendingSlots>();

/** What the slots of a project are counted by. */
export interface SlotFacts {
  readonly limit: number;
  readonly store: RateBudgetStore | undefined;
  readonly group: string;
}

/** The slots of a project, shared by all clients of the process. */
export function sharedSlots(project: string, { limit, store, group }: SlotFacts): PendingSlots {
  const known = projects.get(project);
  if (known?.limit === limit && known.shares(store)) {
    return known;
  }
  const slots = new PendingSlots(limit, store, group);
  projects.set(project, slots);
  return slots;
}

/** Does something later. Nobody awaits it, so it keeps no process alive. */
function later(delayMs: number, task: () => void): void {
  const timer: unknown = setTimeout(task, delayMs); // a number in browsers
  if (typeof timer === 'object') {
    (timer as { unref?: () => void }).unref?.();
  } // Node's timers
}
