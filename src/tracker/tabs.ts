import { decisionsOf, hasNewer } from './consent.js';
import { type EventRecord, NOBODY, type Queue, type TabState } from './queue.js';

/** A tab that has not answered for this long is gone, or is frozen. */
const MAX_ANSWER_MS = 3000;
/** Browsers show a tab the writes of another tab up to 51 ms later. */
const SETTLED_AFTER_MS = 100;
/** The delay before the next look, if another tab was looking at the same time. */
const NEXT_LOOK_MS = 1000;

/** The connection to the other tabs of the origin. */
export interface Tabs {
  readonly open: () => void;
  /**
   * Closes the channel while the page is left: a message would evict the page from the back/forward cache.
   */
  readonly close: () => void;
  readonly broadcast: (state: TabState) => void;
  /** Takes over the events of pages that were left and of tabs that are gone. */
  readonly look: () => void;
}

/** The options of {@link createTabs}. */
export interface TabsOptions {
  /** The prefix of this project's storage keys. */
  readonly prefix: string;
  /** The queue of this tab. A function, because the queue is created after its tabs. */
  readonly queue: () => Queue;
  /** Called when a message or a take-over has changed the queue. */
  readonly onChange: () => void;
  /** Called when `grant()` was called in another tab, unless this tab knows of a later denial. */
  readonly onGrant: () => void;
}

/**
 * A message between tabs. Its fields are `unknown`, because other scripts of the origin may send anything.
 */
interface TabMessage {
  /** Asks all tabs to answer. */
  readonly isQuestion?: unknown;
  /** The tab that sends the message: it is open. Older versions set this field only in their answers. */
  readonly owner?: unknown;
  readonly decisions?: unknown;
  readonly pausedUntil?: unknown;
  /** `grant()` sends this message. Older versions ignore the field. */
  readonly isGrant?: unknown;
}

/**
 * Connects the tabs by messages on a BroadcastChannel. The alternative, one lock for each tab, would have to be
 * held for as long as the tab is open.
 */
export const createTabs = (options: TabsOptions): Tabs => new ChannelTabs(options);

class ChannelTabs implements Tabs {
  readonly #options: TabsOptions;
  #channel: BroadcastChannel | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLooking = false;
  #isLookAsked = false;
  /** Called with each tab that sends a message. */
  #onAnswer: ((owner: unknown) => void) | undefined;

  constructor(options: TabsOptions) {
    this.#options = options;
  }

  get #queue(): Queue {
    return this.#options.queue();
  }

  open(): void {
    try {
      this.#channel ??= new BroadcastChannel(this.#options.prefix);
      // as: other scripts may send anything
      this.#channel.onmessage = ({ data }: MessageEvent) =>
        this.#handleMessage(Object(data) as TabMessage);
    } catch {
      // BroadcastChannel is absent in old browsers and forbidden in a sandbox. Then tabs read the store, a
      // little later.
    }
    // Open tabs may know of a denial that was cleared from the store.
    this.#post({ ...this.#queue.tabState, isQuestion: true });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#channel?.close();
    this.#channel = undefined;
  }

  broadcast(state: TabState): void {
    this.#post(state);
  }

  look(): void {
    // Events that are released during a look are found by the next look.
    this.#isLookAsked = true;
    if (!this.#isLooking) {
      void this.#lookOn();
    }
  }

  #post(message: TabMessage): void {
    try {
      this.#channel?.postMessage({ ...message, owner: this.#queue.owner });
    } catch {
      // The browser has closed the channel: the other tabs read the store instead.
    }
  }

  #handleMessage({ isQuestion, owner, decisions, pausedUntil, isGrant }: TabMessage): void {
    const received = decisionsOf(decisions);
    const { deniedAt } = this.#queue.decisions;
    this.#queue.applyDecisions(received);
    this.#queue.syncDecisions();
    if (isGrant === true && deniedAt > received.deniedAt) {
      // The tab that called `grant()` did not know of this denial.
      this.#queue.decide('denied');
    } else if (isGrant === true) {
      this.#options.onGrant();
    }
    if (typeof pausedUntil === 'number') {
      this.#queue.pauseUntil(pausedUntil);
    }
    if (isQuestion || hasNewer(this.#queue.decisions, received)) {
      this.#post(this.#queue.tabState);
    }
    this.#onAnswer?.(owner);
    this.#options.onChange();
  }

  async #lookOn(): Promise<void> {
    this.#isLooking = true;
    while (this.#isLookAsked && this.#queue.isAllowed && !this.#queue.isLeft) {
      this.#isLookAsked = false;
      await this.#lookOnce();
    }
    this.#isLooking = false;
  }

  async #lookOnce(): Promise<void> {
    clearTimeout(this.#timer);
    const owners = new Set(this.#queue.readAll().map(({ owner }) => owner));
    owners.delete(this.#queue.owner);
    if (owners.delete(NOBODY)) {
      await this.#takeOver(new Set([NOBODY]));
    }
    if (owners.size) {
      await this.#takeOver(await this.#findUnresponsive(owners));
    }
  }

  /** Asks all tabs to answer; resolves to the owners that do not, after 3 s at the latest. */
  async #findUnresponsive(owners: ReadonlySet<string>): Promise<ReadonlySet<unknown>> {
    const unresponsive = new Set<unknown>(owners);
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, MAX_ANSWER_MS);
      this.#onAnswer = (owner) => {
        unresponsive.delete(owner);
        if (!unresponsive.size) {
          clearTimeout(late);
          resolve();
        }
      };
      this.#post({ ...this.#queue.tabState, isQuestion: true });
    });
    this.#onAnswer = undefined;
    return unresponsive;
  }

  async #takeOver(owners: ReadonlySet<unknown>): Promise<void> {
    const isOrphan = ({ owner }: EventRecord) => owners.has(owner);
    if (!this.#queue.readAll().some(isOrphan)) {
      return;
    }
    await withLock(`${this.#options.prefix}take-over`, async (isAlone) => {
      if (!isAlone) {
        this.#timer = setTimeout(() => this.look(), NEXT_LOOK_MS);
        return;
      }
      this.#queue.claim(isOrphan);
      await new Promise((resolve) => setTimeout(resolve, SETTLED_AFTER_MS));
      this.#queue.adopt();
      this.#options.onChange();
    });
  }
}

/**
 * Runs `work` under a lock across the tabs; `isAlone` is false if another tab holds the lock. Without Web
 * Locks the work runs unlocked.
 */
async function withLock(name: string, work: (isAlone: boolean) => Promise<void>): Promise<void> {
  // Web Locks are absent in an insecure context and in old browsers, whatever the types say.
  const { locks } = navigator as { locks?: LockManager };
  let ran: Promise<void> | undefined;
  try {
    await locks?.request(name, { ifAvailable: true }, (lock) => {
      ran = work(lock !== null);
      return ran;
    });
  } catch {
    // Locks are forbidden where storage is forbidden.
  }
  await (ran ?? work(true));
}
