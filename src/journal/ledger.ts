import type { Clock } from '../core/async.js';
import { PostreelError } from '../core/errors.js';
import { reasonOf } from '../core/outcome.js';
import type { JournalItem, JournalStore } from './store.js';

/**
 * What is written under a key. A key without an entry is free: nothing was handed in under it, or what
 * was certainly came to nothing.
 */
export type Entry = Claimed | Accepted;

/** It is being handed in, or nobody knows whether it was. */
export interface Claimed {
  readonly state: 'claimed';
  /** One of a kind: no other claim is mistaken for it, also where a write comes late or twice. */
  readonly id: string;
  /** The call that hands it in, and its place there. */
  readonly call: string;
  readonly place: number;
  /** Which content it is. */
  readonly print: string;
  readonly content?: unknown;
}

/** The service has it. */
export interface Accepted extends Omit<Claimed, 'state' | 'content'> {
  readonly state: 'accepted';
  readonly record: unknown;
  readonly end?: 'done' | 'failed' | 'canceled' | 'saved' | 'dismissed' | undefined;
}

/** An entry as it stands in the store. */
export interface Known<E extends Entry = Entry> {
  readonly key: string;
  readonly entry: E;
  /** The same as text: what a change must find; `undefined` while nothing stands there. */
  readonly text: string | undefined;
  readonly ageMs: number;
}

/** What a ledger stands on. */
export interface LedgerParts {
  readonly store: JournalStore;
  /** What all of its keys begin with. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Says that a write has failed, once an outage, and what that means. */
  readonly onTrouble: (message: string) => void;
  /** Somebody else has changed an entry meanwhile: `wanted` was not written. */
  readonly onConflict?: (key: string, wanted: Entry | undefined) => void;
}

interface Ahead {
  base: string | undefined;
  wanted: string | undefined;
  /** What was sent to the store: it may stand there though no answer came. */
  readonly tried: Set<string | undefined>;
}

// A store that is slower than this is as good as gone.
const maxAnswerMs = 5_000;
const claimRetriesMs = [0, 250, 1_000];
const writeRetriesMs = [1_000, 4_000, 15_000, 60_000];
const pageSize = 1_000;

/**
 * Keys that are used once, in a store. A key is claimed before anything is handed in under it, by one
 * atomic step, so that of all processes one hands it in. What became of it is written afterwards; what
 * cannot be written is tried again, and told at the end.
 */
export class Ledger {
  readonly #parts: LedgerParts;
  /** What is to be written under a key, and what stands there as far as is known. */
  readonly #ahead = new Map<string, Ahead>();
  readonly #writing = new Map<string, Promise<void>>();
  #isFailing = false;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
  }

  /** What is known of a key. What this process could not write so far is written before. */
  async find(key: string): Promise<Known | undefined> {
    if (this.#ahead.has(key)) {
      await this.#write(key);
    }
    const item = await this.#asked((store) => store.get(this.#parts.prefix + key));
    return item && this.#known(item);
  }

  /**
   * Claims a key that is free, or takes over the entry that was found. Resolves to the claim, or to
   * `undefined` when another process was faster. A claim whose answer was lost finds itself.
   */
  async claim(key: string, claim: Claimed, over?: Known): Promise<Known<Claimed> | undefined> {
    const text = JSON.stringify(claim);
    let failure: unknown;
    for (const delayMs of claimRetriesMs) {
      await this.#pause(delayMs);
      try {
        const full = this.#parts.prefix + key;
        const stands = await this.#asked((store) => store.swap(full, over?.text, text));
        return stands === text ? { key, entry: claim, text, ageMs: 0 } : undefined;
      } catch (error) {
        failure = error;
      }
    }
    // It may be written all the same, and would block the key for as long as an unknown call.
    this.change({ key, entry: claim, text, ageMs: 0 }, undefined);
    throw failure;
  }

  /**
   * Writes another entry in place of one, or none; in the background, and again when that fails.
   * `tried` resolves after the first try.
   */
  change<E extends Entry>(
    known: Known,
    entry: E | undefined,
  ): { readonly known: Known<E> | undefined; readonly tried: Promise<void> } {
    const { key } = known;
    const wanted = entry && JSON.stringify(entry);
    const ahead = this.#ahead.get(key) ?? { base: known.text, wanted, tried: new Set() };
    ahead.wanted = wanted;
    this.#ahead.set(key, ahead);
    let onTried: () => void = () => undefined;
    const tried = new Promise<void>((resolve) => (onTried = resolve));
    const writing = (this.#writing.get(key) ?? Promise.resolve())
      .then(() => this.#writeUntilDone(key, onTried))
      .finally(() => this.#writing.get(key) === writing && this.#writing.delete(key));
    this.#writing.set(key, writing);
    return { known: entry && { key, entry, text: wanted, ageMs: 0 }, tried };
  }

  /** Resolves when everything is written; rejects when something could not be. */
  async flush(): Promise<void> {
    await Promise.allSettled(this.#writing.values());
    for (const key of [...this.#ahead.keys()]) {
      await this.#write(key);
    }
  }

  /** All entries whose keys begin like this. */
  async *entries(begin = ''): AsyncGenerator<Known, void, undefined> {
    const prefix = this.#parts.prefix + begin;
    for (let after: string | undefined; ;) {
      const page = { after, limit: pageSize };
      const items = await this.#asked((store) => store.list(prefix, page));
      for (const item of items) {
        const known = this.#known(item);
        if (known) {
          yield known;
        }
      }
      after = items.at(-1)?.key;
      if (items.length < pageSize) {
        return;
      }
    }
  }

  // Never rejects: `flush()` tries again, and tells.
  async #writeUntilDone(key: string, onTried: () => void): Promise<void> {
    for (const delayMs of [0, ...writeRetriesMs]) {
      await this.#pause(delayMs);
      try {
        await this.#write(key).finally(onTried);
        return;
      } catch (error) {
        if (!this.#isFailing) {
          this.#isFailing = true;
          this.#parts.onTrouble(
            `${sentence(error)} It is written again; a crash until then loses it.`,
          );
        }
      }
    }
    this.#parts.onTrouble(
      'The journal still cannot be written. It is tried again with the next look at the same job, and at the end: until then another run does not know what became of it.',
    );
  }

  async #write(key: string): Promise<void> {
    for (let ahead = this.#ahead.get(key); ahead; ahead = this.#ahead.get(key)) {
      const { base, wanted, tried } = ahead;
      const full = this.#parts.prefix + key;
      tried.add(wanted);
      const stands = await this.#asked((store) => store.swap(full, base, wanted));
      this.#isFailing = false;
      if (stands === ahead.wanted) {
        this.#ahead.delete(key);
      } else if (tried.has(stands) && stands !== base) {
        ahead.base = stands; // changed again while it was written
      } else {
        this.#ahead.delete(key);
        const lost = ahead.wanted;
        this.#parts.onConflict?.(key, lost === undefined ? undefined : (JSON.parse(lost) as Entry)); // as written
      }
    }
  }

  #known({ key, value, ageMs }: JournalItem): Known | undefined {
    try {
      const entry = JSON.parse(value) as Entry; // as written
      return { key: key.slice(this.#parts.prefix.length), entry, text: value, ageMs };
    } catch {
      return undefined; // none of ours
    }
  }

  async #pause(delayMs: number): Promise<void> {
    const { clock } = this.#parts;
    if (delayMs > 0) {
      await new Promise<void>((resolve) => clock.at(clock.now() + delayMs, resolve));
    }
  }

  async #asked<T>(ask: (store: JournalStore) => Promise<T>): Promise<T> {
    const { store, clock } = this.#parts;
    try {
      return await clock.within(ask(store), maxAnswerMs, () => undefined);
    } catch (cause) {
      throw new PostreelError(`The journal could not be read or written: ${reasonOf(cause)}`, {
        code: 'JOURNAL_UNAVAILABLE',
        outcome: 'not-sent',
        cause,
      });
    }
  }
}

function sentence(error: unknown): string {
  return `${reasonOf(error).replace(/\.$/, '')}.`;
}
