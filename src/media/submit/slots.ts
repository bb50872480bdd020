import type { Clock } from '../../core/async.js';
import type { ProjectState, ProjectPart } from '../../core/limit/projects.js';
import type { RateBudgetStore } from '../../core/limit/rate-store.js';
import type { MediaConnection } from '../connection.js';
import { limits } from '../limits.js';
import type { MediaNotices } from '../notices.js';
import { SlotLeases, unknownJobHoldMs } from './slot-leases.js';

// A file without a status check for this long counts as ended.
const staleAfterMs = unknownJobHoldMs;
const renewEveryMs = 60_000;

interface PendingSlot {
  /** The time when the slot becomes free, unless a status check sees the file before. */
  readonly until: number;
  readonly renewedAt: number;
  /** The name of the lease at the store. */
  readonly lease: string | undefined;
}

/** The settings of the slots of a project. */
export interface SlotSettings {
  readonly limit: number;
  /** The store through which several processes share the slots. */
  readonly store: RateBudgetStore | undefined;
  readonly warn: (message: string) => void;
}

/**
 * The pending slots of a project: one for each job that may be queued or processing. A slot is taken right
 * before a job is sent and becomes free when a status check sees that its file has ended. A slot also
 * becomes free when no status check has seen its file for ten minutes, for example when the response to the
 * job was lost, or when nobody waits for the file.
 *
 *     take()        names of the form `call 1`, each with a lease of the store, if there is one
 *     assign()      the slot passes from `call 1` to the id of the file
 *     noteStatus()  keeps the slot for ten more minutes, or releases it
 *     release()     the slot is free, its lease is given back
 */
export class Slots implements ProjectPart {
  readonly limit: number;
  readonly #clock: Clock;
  readonly #taken = new Map<string, PendingSlot>();
  readonly #leases: SlotLeases;
  readonly #listeners = new Set<() => void>();
  #names = 0;

  constructor({ name, clock }: ProjectState, { limit, store, warn }: SlotSettings) {
    this.limit = limit;
    this.#clock = clock;
    this.#leases = new SlotLeases(store, name, clock);
    this.#leases.warn = warn;
  }

  /** Uses this store for leases from now on. Returns false when another store is already in use. */
  setStore(store: RateBudgetStore | undefined): boolean {
    return this.#leases.setStore(store);
  }

  /** Do other processes take slots of the same project? */
  get areShared(): boolean {
    return this.#leases.askAgainMs > 0;
  }

  get free(): number {
    const now = this.#clock.now();
    const ended = [...this.#taken].filter(([, { until }]) => until <= now).map(([name]) => name);
    this.#remove(ended);
    return Math.max(0, this.limit - this.#taken.size);
  }

  /** The time when the next slot becomes free without a status check; `Infinity` when no slot is taken. */
  get nextAt(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#taken.values()].map((one) => one.until));
  }

  /** The ids of the files that have slots. */
  get files(): string[] {
    return [...this.#taken.keys()].filter((name) => !name.startsWith(callPrefix));
  }

  /** Is no slot taken, and does no call wait for one? */
  get isIdle(): boolean {
    const now = this.#clock.now();
    return (
      this.#listeners.size === 0 && [...this.#taken.values()].every(({ until }) => until <= now)
    );
  }

  /** Takes up to `count` of the free slots. Takes none when fewer than `atLeast` are free. */
  async take(count: number, atLeast = 1): Promise<string[]> {
    const wanted = Math.min(count, this.free);
    const names = Array.from({ length: wanted }, () => `${callPrefix}${++this.#names}`);
    names.forEach((name) => this.#set(name, undefined));
    const leases = wanted >= atLeast ? await this.#lease(names) : [];
    const got = leases?.length ?? wanted; // without a reachable store each process counts only its slots
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

  /** Passes the slots of a call to the files that its jobs became. */
  assign(names: readonly string[], fileIds: readonly string[]): void {
    const leases = names.flatMap((name) => this.#taken.get(name)?.lease ?? []);
    fileIds.forEach((fileId, index) => {
      const lease = this.#taken.get(names[index] ?? '')?.lease;
      this.#set(fileId, this.#leases.canHold ? fileId : lease);
    });
    names.forEach((name) => this.#taken.delete(name));
    this.#leases.hold(fileIds, leases);
  }

  /**
   * Notes a status check of a file. A file in progress holds a slot, even when no slot was free for it: the
   * service counts it. A file that has ended releases its slot.
   */
  noteStatus(fileId: string, isOver: boolean): void {
    if (isOver) {
      this.release([fileId]);
      return;
    }
    const now = this.#clock.now();
    const { lease, renewedAt = Number.NEGATIVE_INFINITY } = this.#taken.get(fileId) ?? {};
    const isDue = now - renewedAt >= renewEveryMs;
    const own = this.#leases.canHold ? fileId : lease;
    this.#taken.set(fileId, {
      until: now + staleAfterMs,
      renewedAt: isDue ? now : renewedAt,
      lease: own,
    });
    if (isDue) {
      this.#leases.hold([fileId], []);
    }
  }

  /** Releases the slots of jobs that have ended or were not made. */
  release(names: readonly string[]): void {
    if (names.some((name) => this.#taken.has(name))) {
      this.#remove(names);
      this.#listeners.forEach((listener) => listener());
    }
  }

  /** Calls the listener when slots become free. Returns a function that removes it. */
  onFree(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #set(name: string, lease: string | undefined): void {
    const now = this.#clock.now();
    this.#taken.set(name, { until: now + staleAfterMs, renewedAt: now, lease });
  }

  #remove(names: readonly string[]): void {
    const leases = names.flatMap((name) => this.#taken.get(name)?.lease ?? []);
    names.forEach((name) => this.#taken.delete(name));
    this.#leases.giveBack(leases);
  }
}

// The names of slots that have no file yet. No file id begins like this.
const callPrefix = 'call ';

/** The slots of a project. All clients with this limit share them, in all copies of the package. */
export function sharedSlots(project: ProjectState, settings: SlotSettings): Slots {
  const { limit, store } = settings;
  const create = () => new Slots(project, settings);
  return project.part(`${limit} slots`, create, (slots) => slots.setStore(store));
}

/**
 * A client's access to the slots of its project. They are found right before the client submits its first job,
 * because the API key, which identifies the project, may have to be fetched.
 */
export class ClientSlots {
  /** The most jobs that the service allows to be queued or processing at one time. */
  readonly pendingLimit: number;
  /** The same; `Infinity` with `rateLimit: false`, because the caller then enforces the limit. */
  readonly limit: number;
  readonly #connection: MediaConnection;
  readonly #notices: MediaNotices;
  #slots: Slots | undefined;

  constructor(connection: MediaConnection, notices: MediaNotices) {
    const { rateLimit } = connection.options;
    this.pendingLimit = (rateLimit || undefined)?.pending ?? limits.pendingJobs;
    this.limit = rateLimit === false ? Number.POSITIVE_INFINITY : this.pendingLimit;
    this.#connection = connection;
    this.#notices = notices;
  }

  /** Finds the slots. */
  async open(): Promise<Slots> {
    this.#slots ??= sharedSlots(await this.#connection.project(), {
      limit: this.limit,
      store: this.#connection.settings.store,
      warn: (message) => this.#notices.warn(message),
    });
    return this.#slots;
  }

  /** Notes a status check of a file. Until this client submits a job, its checks do not change the slots. */
  noteStatus(fileId: string, isOver: boolean): void {
    this.#slots?.noteStatus(fileId, isOver);
  }
}
