import type { RateBudgetStore } from '../../contract/rate-budget-store.js';

/** A place among the jobs that the service has not finished. */
export interface Place {
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
export class PendingGate {
  readonly limit: number;
  #store: RateBudgetStore | undefined;
  readonly #group: string;
  #taken = 0;
  readonly #listeners = new Set<() => void>();

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
  async take(count: number): Promise<Place[]> {
    const wanted = Math.min(count, this.open);
    if (wanted <= 0) {
      return [];
    }
    this.#taken += wanted;
    const leases = await this.#lease(wanted);
    this.#taken -= wanted - leases.length;
    return leases.map((lease) => this.#place(lease));
  }

  /** Counts a job that was handed in without asking; it takes a place whether one is open or not. */
  count(): Place {
    this.#taken++;
    return this.#place(undefined);
  }

  /** Calls back whenever a place of this process comes free. */
  onFree(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #lease(count: number): Promise<readonly (string | undefined)[]> {
    const own = new Array<undefined>(count).fill(undefined);
    try {
      return (await this.#store?.lease?.(this.#group, count, this.limit, leaseMs)) ?? own;
    } catch {
      return own; // a store that is gone leaves each process to itself
    }
  }

  #place(lease: string | undefined): Place {
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

const gates = new Map<string, PendingGate>();

/** The gate of a project, shared by all clients of the process. */
export function sharedGate(
  name: string,
  limit: number,
  store: RateBudgetStore | undefined,
  group: string,
): PendingGate {
  const known = gates.get(name);
  if (known?.limit === limit && known.shares(store)) {
    return known;
  }
  const gate = new PendingGate(limit, store, group);
  gates.set(name, gate);
  return gate;
}

/** Does something later. Nobody awaits it, so it keeps no process alive. */
export function later(delayMs: number, task: () => void): void {
  const timer: unknown = setTimeout(task, delayMs); // a number in browsers
  if (typeof timer === 'object') {
    (timer as { unref?: () => void }).unref?.();
  } // Node's timers
}
