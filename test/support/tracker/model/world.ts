import type { StoredRecord } from '../../../../src/tracker/queue/record.js';
import type { Decisions } from '../../../../src/tracker/queue/decisions.js';
import { type Entry, Phase, type Queue } from '../../../../src/tracker/queue/state.js';

export const PREFIX = 'postreel:model:';

export const NONE: Decisions = { erasedAt: 0, deniedAt: 0, grantedAt: 0 };

/** Of two copies the later time of each; written apart from the shipped one. */
export const latest = (one: Decisions, other: Decisions): Decisions => {
  const later = (field: keyof Decisions) => (one[field] > other[field] ? one[field] : other[field]);
  return {
    erasedAt: later('erasedAt'),
    deniedAt: later('deniedAt'),
    grantedAt: later('grantedAt'),
  };
};

/** What one made-up world is like. */
export interface Settings {
  readonly delivery: 'no-duplicates' | 'no-loss';
  /** Tabs can ask each other, and tell each other what the visitor decides. */
  readonly hasChannel: boolean;
  /** Without a database one lock serialises those who take over. */
  readonly hasLocks: boolean;
  /** `flaky`: transactions fail and answers come too late. */
  readonly database: 'healthy' | 'flaky' | 'absent';
  /** `silent`: most answers get lost. `broken`: most answers are 500. */
  readonly network: 'fair' | 'silent' | 'broken';
}

/** What is true of one event, whatever the tabs believe. */
export interface Truth {
  readonly id: string;
  readonly at: number;
  email?: string | undefined;
  /** How often the service took it, and how often a page sent it. */
  accepted: number;
  sent: number;
  /** Answers that never came, as a page saw it. */
  unanswered: number;
  /** Tracked before an erasure or a denial, or while consent was denied. */
  isErased: boolean;
  /** The service answered that it never takes it. */
  isRefused?: boolean;
  /** Ended for a reason that the document names. */
  end?: string;
  /** The document names what happened: it may come twice, be lost, survive an
   * erasure, or lose the contact that it was bound to later. */
  mayRepeat: boolean;
  mayBeLost: boolean;
  maySurvive: boolean;
  mayChange: boolean;
}

/** A change to the database, in the order in which the tabs asked for it. */
export interface Transaction {
  readonly tab: ModelTab;
  /** Survives the end of its page. */
  readonly isCommitted: boolean;
  readonly ids: readonly string[];
  readonly work: (database: Map<string, StoredRecord>) => unknown;
  readonly done?: ((result: unknown) => void) | undefined;
}

export interface ModelRequest {
  readonly tab: ModelTab;
  readonly entry: Entry;
  readonly truth: Truth;
  readonly email: string | undefined;
  isAccepted: boolean;
  /** Its page was left since it was made. */
  isExit: boolean;
}

export interface ModelTab {
  queue: Queue;
  isGone: boolean;
  isFrozen: boolean;
  /** Its channel is open: it hears others, and answers them unless it is busy. */
  isListening: boolean;
  /** Its events are in memory alone. */
  readonly memory: Map<string, StoredRecord> | undefined;
  /** What it must know of the visitor's decisions: kept by the model, not by the tab. */
  mustKnow: Decisions;
  /** Messages that are on their way to it. */
  unheard?: number;
  isAlone: boolean;
  isLooking: boolean;
  /** Where events are in memory alone. */
  readonly wait: WaitPlace;
  /** The page tracks for this contact now. */
  email: string | undefined;
}

/** Where the wait after a 429 stands: in the localStorage of all tabs, or in the memory of one. */
export interface WaitPlace {
  hold: number;
  /** The same by the books, which no erasure shortens. */
  mustWait: number;
}

/** What the tabs share: the stores, the network, the clock, and a seeded source of chance. */
export class World {
  now = 1.8e12;
  isOnline = true;
  local = new Map<string, unknown>();
  /** What of it a killed browser would find again. */
  disk = new Map<string, unknown>();
  isLocalFull = false;
  /** The key of decisions in each store, and what each must hold by the model's own books. */
  localDecisions = NONE;
  diskDecisions = NONE;
  databaseDecisions = NONE;
  mustHold = { local: NONE, disk: NONE, database: NONE };
  /** What was ever told from tab to tab. */
  told = NONE;
  /** The times of all grants. */
  readonly grants = new Set<number>();
  /** A tab that lives was taken for gone, since it was too busy to answer. */
  wasMistaken = false;
  database = new Map<string, StoredRecord>();
  transactions: Transaction[] = [];
  callbacks: { readonly tab: ModelTab; readonly run: () => void }[] = [];
  requests: ModelRequest[] = [];
  tabs: ModelTab[] = [];
  truths = new Map<string, Truth>();
  readonly wait: WaitPlace = { hold: 0, mustWait: 0 };
  lastTooMany = 0;
  adoptLock: ModelTab | undefined;
  problems: string[] = [];
  readonly settings: Settings;
  readonly log: string[] = [];
  #state: number;

  constructor(seed: number) {
    this.#state = seed * 2654435761;
    this.settings = {
      delivery: this.chance(0.7) ? 'no-duplicates' : 'no-loss',
      hasChannel: this.chance(0.75),
      hasLocks: this.chance(0.75),
      database: this.pick(['healthy', 'healthy', 'healthy', 'flaky', 'absent'] as const),
      network: this.chance(0.85) ? 'fair' : this.pick(['silent', 'broken'] as const),
    };
  }

  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.random() * items.length)]!;
  }

  waitOf({ memory, wait }: ModelTab): WaitPlace {
    return memory ? wait : this.wait;
  }

  /** localStorage is cleared, or forgets its last writes. */
  forgetWait(): void {
    Object.assign(this.wait, { hold: 0, mustWait: 0 });
  }

  fail(problem: string): void {
    this.problems.push(problem);
  }

  /** What localStorage holds has reached the disk. */
  toDisk(): void {
    this.disk = new Map(this.local);
    this.diskDecisions = this.localDecisions;
    this.mustHold.disk = this.mustHold.local;
  }

  /** Runs the next change of the database. */
  transact(): void {
    const transaction = this.transactions.shift();
    if (!transaction) {
      return;
    }
    const { tab, work, done } = transaction;
    const isFlaky = this.settings.database === 'flaky' && this.chance(0.15);
    const isLate = this.settings.database === 'flaky' && this.chance(0.1);
    const result = isFlaky ? undefined : work(this.database);
    if (done) {
      this.callbacks.push({ tab, run: () => done(isLate ? undefined : result) });
    }
  }

  /** Tells a tab what it waits for. */
  answer(): void {
    const ready = this.callbacks.filter(({ tab }) => !tab.isFrozen);
    if (!ready.length) {
      return;
    }
    // Each tab hears its answers in order; between tabs there is none.
    const { tab } = this.pick(ready);
    const callback = ready.find((other) => other.tab === tab)!;
    this.callbacks = this.callbacks.filter((other) => other !== callback);
    if (!callback.tab.isGone) {
      callback.run();
    }
  }

  /** The page is gone: what was not committed is undone. */
  end(tab: ModelTab): void {
    tab.isGone = true;
    tab.isFrozen = false;
    tab.isListening = false;
    if (this.adoptLock === tab) {
      this.adoptLock = undefined;
    }
    const undone = (other: Transaction) => other.tab === tab && !other.isCommitted;
    for (const id of this.transactions.filter(undone).flatMap(({ ids }) => ids)) {
      const truth = this.truths.get(id)!;
      truth.mayChange = true;
      // Others cleared localStorage before the database had it.
      truth.mayBeLost ||= !this.database.has(id) && !this.local.has(id);
    }
    this.transactions = this.transactions.filter((other) => !undone(other));
    // Then nobody can tell that exactly one tab gets each of them.
    const { hasLocks, database } = this.settings;
    const isInherited = database !== 'absent' || hasLocks;
    for (const { record, isStored, phase, isDoubtful } of tab.queue.entries) {
      const truth = this.truths.get(record.id);
      // Memory ends with the page; what is about to be sent counts as sent, also while it waits for
      // the rest of its batch.
      const isMarked = phase === Phase.Marking || phase === Phase.Marked;
      if (truth && (!isStored || tab.memory || isMarked || isDoubtful || !isInherited)) {
        truth.mayBeLost = true;
      }
    }
    this.requests = this.requests.filter(
      (request) => request.tab !== tab || (request.isExit && this.chance(0.9)),
    );
    this.tabs = this.tabs.filter((other) => other !== tab);
  }
}
