import type { Clock } from '../../core/async.js';
import type { RateBudgetStore } from '../../core/rate-store.js';
import { SlotLeases, uncertainMs } from './slot-leases.js';

// A file that nobody has heard of for so long is taken for ended.
const quietMs = uncertainMs;
const renewEveryMs = 60_000;

interface Slot {
  /** When it comes free unless something is heard of it. */
  readonly until: number;
  readonly renewedAt: number;
  /** Its name at the store. */
  readonly lease: string | undefined;
}

/** What the slots of a project are made of. */
export interface SlotParts {
  readonly limit: number;
  readonly clock: Clock;
  /** Where several processes share them. */
  readonly store: RateBudgetStore | undefined;
  readonly group: string;
  readonly warn: (message: string) => void;
}

/**
 * The pending slots of a project: as many jobs as may be queued or processing. A slot is taken right
 * before a job leaves and comes free when its file is seen at its end. What is not heard of for ten
 * minutes counts as ended: a job whose answer was lost, or one that nobody asks for.
 */
export class Slots {
  readonly limit: number;
  readonly #clock: Clock;
  readonly #taken = new Map<string, Slot>();
  readonly #leases: SlotLeases;
  readonly #listeners = new Set<() => void>();
  #names = 0;

  constructor({ limit, clock, store, group, warn }: SlotParts) {
    this.limit = limit;
    this.#clock = clock;
    this.#leases = new SlotLeases(store, group, clock);
    this.#leases.warn = warn;
  }

  /** Leases the slots of a store from now on; false when they are leased of another one. */
  shares(store: RateBudgetStore | undefined): boolean {
    return this.#leases.shares(store);
  }

  /** Do other processes take slots, too? */
  get areShared(): boolean {
    return this.#leases.askAgainMs > 0;
  }

  get free(): number {
    const now = this.#clock.now();
    const ended = [...this.#taken].filter(([, { until }]) => until <= now).map(([name]) => name);
    this.#forget(ended);
    return Math.max(0, this.limit - this.#taken.size);
  }

  /** When a slot comes free by itself. */
  get nextAt(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#taken.values()].map((one) => one.until));
  }

  /** The files that have slots. */
  get files(): string[] {
    return [...this.#taken.keys()].filter((name) => !name.startsWith(callPrefix));
  }

  /** Takes as many slots as are free, up to a number; none where they are fewer than `atLeast`. */
  async take(count: number, atLeast = 1): Promise<string[]> {
    const wanted = Math.min(count, this.free);
    const names = Array.from({ length: wanted }, () => `${callPrefix}${++this.#names}`);
    names.forEach((name) => this.#set(name, undefined));
    const leases = wanted >= atLeast ? await this.#lease(names) : [];
    const got = leases?.length ?? wanted; // a store that is gone leaves each process to itself
    names.slice(0, got).forEach((name, index) => this.#set(name, leases?.[index]));
    const taken = names.slice(0, got);
    this.release(got < atLeast ? names : names.slice(got));
    return got < atLeast ? [] : taken;
  }

  async #lease(names: readonly string[]): Promise<readonly string[] | undefined> {
    try {
      return await this.#leases.take(names.length, this.limit);
    } catch (error) {
      this.release(names);
      throw error;
    }
  }

  /** The jobs that slots were taken for are these files now. */
  assign(names: readonly string[], fileIds: readonly string[]): void {
    const leases = names.flatMap((name) => this.#taken.get(name)?.lease ?? []);
    fileIds.forEach((fileId, index) => {
      const lease = this.#taken.get(names[index] ?? '')?.lease;
      this.#set(fileId, this.#leases.canHold ? fileId : lease);
    });
    names.forEach((name) => this.#taken.delete(name));
    this.#leases.hold(fileIds, leases);
  }

  /** A status check has seen a file: one that is being made has a slot, whether there is one or not. */
  seen(fileId: string, isOver: boolean): void {
    if (isOver) {
      this.release([fileId]);
      return;
    }
    const now = this.#clock.now();
    const { lease, renewedAt = Number.NEGATIVE_INFINITY } = this.#taken.get(fileId) ?? {};
    const isDue = now - renewedAt >= renewEveryMs;
    const own = this.#leases.canHold ? fileId : lease;
    this.#taken.set(fileId, {
      until: now + quietMs,
      renewedAt: isDue ? now : renewedAt,
      lease: own,
    });
    if (isDue) {
      this.#leases.hold([fileId], []);
    }
  }

  /** These jobs are over, or were not made. */
  release(names: readonly string[]): void {
    if (names.some((name) => this.#taken.has(name))) {
      this.#forget(names);
      this.#listeners.forEach((listener) => listener());
    }
  }

  /** Calls back when slots come free; returns a way to stop listening. */
  onFree(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #set(name: string, lease: string | undefined): void {
    const now = this.#clock.now();
    this.#taken.set(name, { until: now + quietMs, renewedAt: now, lease });
  }

  #forget(names: readonly string[]): void {
    const leases = names.flatMap((name) => this.#taken.get(name)?.lease ?? []);
    names.forEach((name) => this.#taken.delete(name));
    this.#leases.giveBack(leases);
  }
}

// No file has such an id.
const callPrefix = 'call ';

const projects = new Map<string, Slots>();

/** The slots of a project, shared by all clients of the process. */
export function sharedSlots(project: string, parts: SlotParts): Slots {
  const known = projects.get(project);
  if (known?.limit === parts.limit && known.shares(parts.store)) {
    return known;
  }
  const slots = new Slots(parts);
  projects.set(project, slots);
  return slots;
}
