import type { RateBudgetStore } from '../../../core/rate-store.js';
import type { OutstandingJobs } from '../../jobs/outstanding.js';
import type { Clock } from '../../../core/async.js';
import type { SlotEvidence } from '../steps/commands.js';
import { LearnedLimit } from './learned-limit.js';
import { SlotLeases, renewedLeaseMs, uncertainMs } from '../../jobs/slot-leases.js';

const renewEveryMs = 60_000;

interface Slot {
  /** When a slot in doubt comes free. */
  readonly until: number;
  /** A job whose caller no longer waits for it. */
  readonly isAbandoned?: boolean;
  /** Its name at the store. */
  readonly lease: string | undefined;
}

/** What the slots of a project are made of. */
export interface SlotParts {
  readonly limit: number;
  readonly clock: Clock;
  readonly store: RateBudgetStore | undefined;
  readonly group: string;
  /** Jobs that were submitted beside the queues. */
  readonly others: OutstandingJobs;
  /** Says that the store fails, and what that means. */
  readonly warn?: (message: string) => void;
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
  readonly #leases: SlotLeases;
  #renewedAt: number;
  /** So many slots other processes had by the last answer of the store, and until when that counts. */
  #others = { count: 0, until: 0 };
  #names = 0;

  constructor(parts: SlotParts) {
    this.limit = parts.limit;
    this.#parts = parts;
    this.#learned = new LearnedLimit(parts.limit, parts.clock);
    this.#leases = new SlotLeases(parts.store, parts.group, parts.clock);
    this.#renewedAt = parts.clock.now();
    parts.others.onChange(() => this.#notify());
  }

  /** Leases the slots of a store from now on; false when they are leased of another one. */
  shares(store: RateBudgetStore | undefined): boolean {
    return this.#leases.shares(store);
  }

  /** Warns this client from now on. */
  warnWith(warn: SlotParts['warn']): this {
    this.#leases.warn = warn ?? this.#leases.warn;
    return this;
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
  get maxAccepted(): number {
    return this.#learned.maxAccepted;
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

  /** About how many slots other processes have, by the answers of the store. */
  get others(): number {
    return this.#others.until > this.#parts.clock.now() ? this.#others.count : 0;
  }

  /** When to ask the store again for a slot that it did not have. */
  get askAgainMs(): number {
    return this.#leases.askAgainMs;
  }

  /** Takes as many slots as are free, up to a number, and names them; none where they are too few. */
  async take(count: number, atLeast = 1): Promise<string[]> {
    const wanted = Math.min(count, this.free);
    const names = Array.from({ length: wanted }, () => `call ${++this.#names}`);
    for (const name of names) {
      this.#taken.set(name, { until: Number.POSITIVE_INFINITY, lease: undefined });
    }
    const leases = await this.#leases.take(wanted, this.#learned.now);
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
    const old: string[] = [];
    for (const [index, fileId] of fileIds.entries()) {
      const before = this.#taken.get(instead[index] ?? '');
      this.#taken.delete(instead[index] ?? '');
      old.push(...(before?.lease === undefined ? [] : [before.lease]));
      const lease = this.#leases.canHold ? fileId : before?.lease;
      this.#taken.set(fileId, { until: Number.POSITIVE_INFINITY, lease });
    }
    this.#leases.hold(fileIds, old);
  }

  /** It is unknown whether these jobs exist: they take their slots for a while. */
  holdUncertain(names: readonly string[]): void {
    const until = this.#parts.clock.now() + uncertainMs;
    for (const name of names) {
      const slot = this.#taken.get(name);
      if (slot) {
        this.#taken.set(name, { ...slot, until });
      }
    }
    this.#notify();
  }

  /** These jobs may go on, though their caller no longer waits for them. */
  abandon(fileIds: readonly string[]): void {
    this.holdUncertain(fileIds);
    for (const fileId of fileIds) {
      const slot = this.#taken.get(fileId);
      if (slot) {
        this.#taken.set(fileId, { ...slot, isAbandoned: true });
      }
    }
    this.#notify();
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
    this.#leases.giveBack(leases);
    this.#notify();
  }

  /** Learns how many jobs the service takes at one time; `slotsAfter` were, or would have been, taken. */
  learn(evidence: SlotEvidence, slotsAfter: number): void {
    this.#learned.learn(evidence, slotsAfter, this.taken);
    this.#notify();
  }

  /** Renews the leases at the store. */
  renew(): void {
    const now = this.#parts.clock.now();
    if (now - this.#renewedAt < renewEveryMs) {
      return;
    }
    this.#renewedAt = now;
    const leases = [...this.#taken.values()].flatMap(({ lease }) => lease ?? []);
    this.#leases.hold(leases, []);
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
    this.#leases.giveBack(leases);
  }

  // While a store restarts, what others had by its last answer is theirs.
  #freeBesideOthers(wanted: number): number {
    const others = this.#leases.isRestarting ? this.others : 0;
    return Math.max(0, this.#learned.now - others - (this.taken - wanted));
  }

  // Where the store has none left, others have what is not ours; else they have that at most. By the
  // end of a lease they may be dead.
  #learnOthers(isFull: boolean): void {
    const most = Math.max(0, this.#learned.now - this.taken);
    const count = isFull ? most : Math.min(this.others, most);
    this.#others = { count, until: this.#parts.clock.now() + renewedLeaseMs };
  }

  #notify(): void {
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
    return known.warnWith(parts.warn);
  }
  const slots = new PendingSlots(parts).warnWith(parts.warn);
  projects.set(project, slots);
  return slots;
}
