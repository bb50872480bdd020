import { decisionsOf, isAhead } from './consent.js';
import { type EventRecord, NOBODY, type Queue, type Told } from './queue.js';

/** A tab that has not answered for so long is gone, or cannot run. */
const MAX_SILENCE_MS = 3000;
/** Engines show a tab what another one wrote up to 51 ms later. */
const SETTLED_AFTER_MS = 100;
/** When to look again after another tab was found looking. */
const NEXT_LOOK_MS = 1000;

/** The other tabs of the origin. */
export interface Tabs {
  readonly open: () => void;
  /** Closed while the page is left: a message would drop it from the back/forward cache. */
  readonly close: () => void;
  readonly tell: (told: Told) => void;
  /** Takes over the events of pages that were left and of tabs that are gone. */
  readonly look: () => void;
}

/** What the tabs of a tracker are made of. */
export interface TabsOptions {
  /** What the keys of this project begin with. */
  readonly prefix: string;
  /** The queue of this tab, which is made after its tabs. */
  readonly queue: () => Queue;
  /** Called when a message or a take-over has changed the queue. */
  readonly onChange: () => void;
  /** Called when `grant()` was called in another tab, unless a denial stands against it. */
  readonly onGrant: () => void;
}

/** What tabs send each other; other scripts of the origin may send anything. */
interface Message {
  /** Asks all tabs to answer. */
  readonly isQuestion?: unknown;
  /** The tab that sends the message, which therefore lives. Versions before it name only a tab that answers. */
  readonly owner?: unknown;
  readonly decisions?: unknown;
  readonly pausedUntil?: unknown;
  /** `grant()` sends this message. Older versions ignore the field. */
  readonly isGrant?: unknown;
}

/** Tabs over a BroadcastChannel: it holds nothing while a tab lives, as a lock would. */
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
      this.#channel.onmessage = ({ data }: MessageEvent) => this.#hear(Object(data) as Message);
    } catch {
      // Absent in old browsers, forbidden in a sandbox: then the store tells, a little later.
    }
    // A denial that no store has any more is known to the tabs that are open.
    this.#post({ ...this.#queue.told, isQuestion: true });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#channel?.close();
    this.#channel = undefined;
  }

  tell(told: Told): void {
    this.#post(told);
  }

  look(): void {
    // What is released during a look is found by the next one.
    this.#isLookAsked = true;
    if (!this.#isLooking) {
      void this.#lookOn();
    }
  }

  #post(message: Message): void {
    try {
      this.#channel?.postMessage({ ...message, owner: this.#queue.owner });
    } catch {
      // Closed by the browser: the other tabs read the store.
    }
  }

  #hear({ isQuestion, owner, decisions, pausedUntil, isGrant }: Message): void {
    const heard = decisionsOf(decisions);
    const { deniedAt } = this.#queue.decisions;
    this.#queue.hear(heard);
    this.#queue.obey();
    if (isGrant === true && deniedAt > heard.deniedAt) {
      // The tab that granted did not know of this denial.
      this.#queue.decide('denied');
    } else if (isGrant === true) {
      this.#options.onGrant();
    }
    if (typeof pausedUntil === 'number') {
      this.#queue.pauseUntil(pausedUntil);
    }
    if (isQuestion || isAhead(this.#queue.decisions, heard)) {
      this.#post(this.#queue.told);
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
      await this.#takeOver(await this.#findSilent(owners));
    }
  }

  /** Resolves to those of the tabs that do not answer. */
  async #findSilent(owners: ReadonlySet<string>): Promise<ReadonlySet<unknown>> {
    const silent = new Set<unknown>(owners);
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, MAX_SILENCE_MS);
      this.#onAnswer = (owner) => {
        silent.delete(owner);
        if (!silent.size) {
          clearTimeout(late);
          resolve();
        }
      };
      this.#post({ ...this.#queue.told, isQuestion: true });
    });
    this.#onAnswer = undefined;
    return silent;
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

/** Runs work while no other tab does; without Web Locks it runs all the same. */
async function withLock(name: string, work: (isAlone: boolean) => Promise<void>): Promise<void> {
  // Absent in an insecure context and in old browsers, whatever the types say.
  const { locks } = navigator as { locks?: LockManager };
  let ran: Promise<void> | undefined;
  try {
    await locks?.request(name, { ifAvailable: true }, (lock) => {
      ran = work(lock !== null);
      return ran;
    });
  } catch {
    // Forbidden, where storage is.
  }
  await (ran ?? work(true));
}
