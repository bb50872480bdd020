import type { RateBudgetStore } from '../../../contract/rate-budget-store.js';
import type { OutstandingJobs } from '../../jobs/outstanding.js';
import type { QueueClock } from '../clock.js';
import type { SlotEvidence } from '../steps/commands.js';
import { LearnedLimit } from './learned-limit.js';

/** How long a job takes a slot when nobody knows whether it exists. */
export const uncertainMs = 10 * 60_000;

// A store with `hold` has its leases renewed, each for as long as a job that nobody follows may go on: the service
// still counts the jobs of a worker that died. Another store keeps them for as long as a job may take.
const renewedLeaseMs = uncertainMs;
const renewEveryMs = 60_000;
const longLeaseMs = 60 * 60_000;
const askStoreAgainMs = 3_000;
// A store that is slower than this is as good as gone.
const longestAnswerMs = 5_000;
// One that only restarts is back within this time.
const restartMs = 60_000;

interface Slot {
  /** When a slot in doubt comes free. */
  readonly until: number;
  /** A job that nobody waits for any more. */
  readonly isAbandoned?: boolean;
  /** Its name at the store. */
  readonly lease: string | undefined;
}

/** What the slots of a project are made of. */
export interface SlotParts {
  readonly limit: number;
  readonly clock: QueueClock;
  readonly store: RateBudgetStore | undefined;
  readonly group: string;
  /** Jobs that were submitted beside the queues. */
  readonly others: OutstandingJobs;
}

/**
 * The pending slots of a project: jobs that are queued or processing, and those that may be. The
 * number that the service really takes is learned from its refusals.
 */
export class PendingSlots {
  readonly limit: number;
  readonly #learned: LearnedLimit;
  readonly #parts: SlotParts;
  readonly #taken = new Map<string, Slot>();
  readonly #listeners = new Set<() => void>();
  #store: RateBudgetStore | undefined;
  #renewedAt: number;
  /** So many slots other processes had when the store last told, and until when that counts. */
  #others = { count: 0, until: 0 };
  /** Since when the store has not answered. */
  #goneSince: number | undefined;
  /** Leases that it was not told to take back, as far as is known. */
  #owed: readonly string[] = [];
  #names = 0;

  constructor(parts: SlotParts) {
    this.limit = parts.limit;
    this.#parts = parts;
    this.#learned = new LearnedLimit(parts.limit, parts.clock);
    this.#store = parts.store;
    this.#renewedAt = parts.clock.now();
    parts.others.onChange(() => this.#tell());
  }

  /** Leases the slots of a store from now on; false when they are leased of another one. */
  shares(store: RateBudgetStore | undefined): boolean {
    this.#store ??= store;
    return store === undefined || store === this.#store;
  }

  get free(): number {
    return Math.max(0, this.#learned.now - this.taken);
  }

  get taken(): number {
    this.#expire();
    let taken = this.#taken.size;
    for (const { fileId } of this.#parts.others) {
      taken += this.#taken.has(fileId) ? 0 : 1;
    }
    return taken;
  }

  /** So many jobs at one time the service has taken. */
  get proven(): number {
    return this.#learned.proven;
  }

  /** When a slot comes free by itself, or the limit grows. */
  get nextAt(): number {
    let first = this.#learned.nextAt;
    for (const { until } of this.#taken.values()) {
      first = Math.min(first, until);
    }
    return first;
  }

  /** The files of others that take slots. */
  get otherFiles(): string[] {
    const files: string[] = [];
    for (const { fileId } of this.#parts.others) {
      if (!this.#taken.has(fileId)) {
        files.push(fileId);
      }
    }
    for (const [name, { isAbandoned }] of this.#taken) {
      if (isAbandoned) {
        files.push(name);
      }
    }
    return files;
  }

  /** About how many slots other processes have, as far as the store has told. */
  get others(): number {
    return this.#others.until > this.#parts.clock.now() ? this.#others.count : 0;
  }

  /** When to ask the store again for a slot that it did not have. */
  get askAgainMs(): number {
    return this.#store?.lease ? askStoreAgainMs : 0;
  }

  /** Takes as many slots as are free, up to a number, and names them; none where they are too few. */
  async take(count: number, atLeast = 1): Promise<string[]> {
    const wanted = Math.min(count, this.free);
    const names = Array.from({ length: wanted }, () => `call ${++this.#names}`);
    for (const name of names) {
      this.#taken.set(name, { until: Number.POSITIVE_INFINITY, lease: undefined });
    }
    const leases = await this.#lease(wanted);
    const got = leases?.length ?? Math.min(wanted, this.#freeBesideOthers(wanted));
    for (const [index, name] of names.entries()) {
      if (index < got) {
        this.#taken.set(name, { until: Number.POSITIVE_INFINITY, lease: leases?.[index] });
      } else {
        this.#taken.delete(name);
      }
    }
    const taken = names.slice(0, got);
    if (!leases) {
      return taken;
    }
    this.#learnOthers(got < wanted);
    if (got < atLeast) {
      this.release(taken);
      return [];
    }
    return taken;
  }

  /** These jobs take slots now, whether there are any or not. */
  hold(fileIds: readonly string[], instead: readonly string[] = []): void {
    const canHold = this.#store?.hold !== undefined;
    const old: string[] = [];
    for (const [index, fileId] of fileIds.entries()) {
      const before = this.#taken.get(instead[index] ?? '');
      this.#taken.delete(instead[index] ?? '');
      old.push(...(before?.lease === undefined ? [] : [before.lease]));
      const lease = canHold ? fileId : before?.lease;
      this.#taken.set(fileId, { until: Number.POSITIVE_INFINITY, lease });
    }
    this.#holdAtStore(fileIds, old);
  }

  /** Nobody knows whether these jobs exist: they take their slots for a while. */
  doubt(names: readonly string[]): void {
    const until = this.#parts.clock.now() + uncertainMs;
    for (const name of names) {
      const slot = this.#taken.get(name);
      if (slot) {
        this.#taken.set(name, { ...slot, until });
      }
    }
    this.#tell();
  }

  /** Nobody waits for these jobs any more, and they may go on. */
  abandon(fileIds: readonly string[]): void {
    this.doubt(fileIds);
    for (const fileId of fileIds) {
      const slot = this.#taken.get(fileId);
      if (slot) {
        this.#taken.set(fileId, { ...slot, isAbandoned: true });
      }
    }
    this.#tell();
  }

  /** A file of others is over. */
  forget(fileId: string): void {
    this.#parts.others.end(fileId);
    this.release([fileId]);
  }

  /** These jobs are over, or never began. */
  release(names: readonly string[]): void {
    const leases: string[] = [];
    for (const name of names) {
      const slot = this.#taken.get(name);
      if (slot?.lease !== undefined) {
        leases.push(slot.lease);
      }
      this.#taken.delete(name);
    }
    this.#giveBack(leases);
    this.#tell();
  }

  /** Learns how many jobs the service takes at one time; `level` were, or would have been, taken. */
  learn(evidence: SlotEvidence, level: number): void {
    this.#learned.learn(evidence, level, this.taken);
    this.#tell();
  }

  /** Renews the leases at the store. */
  renew(): void {
    const now = this.#parts.clock.now();
    if (now - this.#renewedAt < renewEveryMs) {
      return;
    }
    this.#renewedAt = now;
    const leases = [...this.#taken.values()].flatMap(({ lease }) => lease ?? []);
    this.#holdAtStore(leases, []);
  }

  /** Calls back with every change; returns a way to stop listening. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #expire(): void {
    const now = this.#parts.clock.now();
    const leases: string[] = [];
    for (const [name, { until, lease }] of this.#taken) {
      if (until <= now) {
        this.#taken.delete(name);
        leases.push(...(lease === undefined ? [] : [lease]));
      }
    }
    this.#giveBack(leases);
  }

  #giveBack(leases: readonly string[]): void {
    const all = [...this.#owed, ...leases];
    const store = this.#store;
    if (all.length > 0 && store?.giveBack) {
      this.#owed = [];
      this.#tellStore(store.giveBack(this.#parts.group, all), all);
    }
  }

  // A store that restarts hears it later: until a lease runs out, nobody could use its slot.
  #tellStore(told: Promise<void>, givenBack: readonly string[]): void {
    const { clock } = this.#parts;
    clock
      .within(told, longestAnswerMs, () => undefined)
      .catch(() => {
        this.#owed = [...this.#owed, ...givenBack];
      });
  }

  /** `undefined` where each process is by itself. */
  async #lease(count: number): Promise<readonly string[] | undefined> {
    const store = this.#store;
    if (!store?.lease || count === 0) {
      return undefined;
    }
    this.#giveBack([]);
    const leaseMs = store.hold ? renewedLeaseMs : longLeaseMs;
    const { group, clock } = this.#parts;
    try {
      const leases = store.lease(group, count, this.#learned.now, leaseMs);
      const places = await clock.within(leases, longestAnswerMs, (late) => {
        store.giveBack?.(group, late).catch(() => undefined); // they run out
      });
      this.#goneSince = undefined;
      return places;
    } catch {
      this.#goneSince ??= clock.now();
      return undefined; // a store that is gone leaves each process to itself
    }
  }

  // While a store restarts, what others had when it last told is theirs.
  #freeBesideOthers(wanted: number): number {
    const goneMs = this.#parts.clock.now() - (this.#goneSince ?? Number.NEGATIVE_INFINITY);
    const others = goneMs < restartMs ? this.others : 0;
    return Math.max(0, this.#learned.now - others - (this.taken - wanted));
  }

  // Where the store has none left, others have what is not ours; else they have that at most. By the
  // end of a lease they may be dead.
  #learnOthers(isFull: boolean): void {
    const most = Math.max(0, this.#learned.now - this.taken);
    const count = isFull ? most : Math.min(this.others, most);
    this.#others = { count, until: this.#parts.clock.now() + renewedLeaseMs };
  }

  #holdAtStore(names: readonly string[], instead: readonly string[]): void {
    const store = this.#store;
    if (names.length > 0 && store?.hold) {
      this.#owed = this.#owed.filter((name) => !names.includes(name));
      this.#tellStore(store.hold(this.#parts.group, names, renewedLeaseMs, instead), instead);
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) {
      listener();
    }
  }
}

const projects = new Map<string, PendingSlots>();

/** The slots of a project, shared by all clients of the process. */
export function sharedSlots(project: string, parts: SlotParts): PendingSlots {
  const known = projects.get(project);
  if (known?.limit === parts.limit && known.shares(parts.store)) {
    return known;
  }
  const slots = new PendingSlots(parts);
  projects.set(project, slots);
  return slots;
}
