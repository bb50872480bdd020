import { answerWithin, sleep, type Clock } from '../async.js';
import { hasIoContexts } from '../runtime.js';
import { isPostreelError, PostreelError, reasonOf, reasonSentence } from '../errors.js';
import { nameOf, type JournalItem, type JournalStore } from './journal.js';

/**
 * The entry under a key. A key without an entry is free: its call was never made, or certainly did
 * nothing.
 */
export type KeyEntry = Claimed | Unknown | Answered;

interface EntryFacts {
  /** A unique id. It tells this claim from every other, even if a write arrives late or twice. */
  readonly id: string;
  /** The key as the caller gave it. */
  readonly key: string;
  /** The call, e.g. `POST /v1/send`. */
  readonly call: string;
  /** The fingerprint of the content; empty if the content does not matter. */
  readonly print: string;
  /** The group that the entry belongs to, if several projects share the keys. */
  readonly owner?: string | undefined;
}

/** The request is about to be sent, or in flight. */
export interface Claimed extends EntryFacts {
  readonly state: 'claimed';
  /**
   * The lifetime of the claim without a renewal, in milliseconds. Once the claim is older, the outcome of
   * its call is unknown. Versions before the renewals wrote `null` for a call without a time limit.
   */
  readonly limitMs: number;
  /** The number of renewals so far. Each renewal changes the text of the entry. */
  readonly renewals?: number | undefined;
  /**
   * The call waits for its next attempt, and its attempts so far certainly did nothing (a 429, no connection). If
   * this claim expires, the key is free. Older versions ignore the field: for them the outcome is unknown.
   */
  readonly idle?: boolean | undefined;
  /** The content that identifies the job until it is answered. */
  readonly content?: unknown;
}

/** Nobody knows whether the call took effect. */
export interface Unknown extends EntryFacts {
  readonly state: 'unknown';
  readonly content?: unknown;
}

/** The service accepted the call. */
export interface Answered extends EntryFacts {
  readonly state: 'answered';
  readonly answer: unknown;
  /** The final state of the job, if one was reported later. */
  readonly end?: 'done' | 'failed' | 'canceled' | 'saved' | 'dismissed' | undefined;
}

/** An entry as the store holds it. */
export interface StoredEntry<E extends KeyEntry = KeyEntry> {
  /** The full key in the store. */
  readonly storeKey: string;
  readonly entry: E;
  /**
   * The entry as text: a swap must find this text. `undefined` while the store holds nothing under the
   * key.
   */
  readonly text: string | undefined;
  readonly ageMs: number;
}

/** The dependencies and settings of a ledger. */
export interface LedgerParts {
  readonly store: JournalStore;
  readonly clock: Clock;
  /** How long answered keys are kept, in milliseconds. */
  readonly keepMs: number;
  /** The scopes whose answered keys are removed after `keepMs`: see {@link KeyScope}. */
  readonly scopes: readonly string[];
  /** The owner whose entries are removed among the keys of a named queue. */
  readonly owner: string | undefined;
  /** The service of this client: the other service may have its keys in the same scopes. */
  readonly service: {
    readonly name: string;
    /** Does the call belong to this service? Each entry names its call. */
    readonly hasCall: (call: string) => boolean;
  };
  /** Emits a `warning` that a write failed, once per outage, with the consequences. */
  readonly warn: (message: string) => void;
}

/** A change of a key that the store has not confirmed yet. `undefined` stands for a key without an entry. */
interface PendingWrite {
  /** The text that the store is believed to hold. */
  expected: string | undefined;
  /** The text that the store is to hold. */
  target: string | undefined;
  /** Every text that was sent to the store. The store may hold any of them, even if it sent no response. */
  readonly attempted: Set<string | undefined>;
}

// A store that takes longer than this counts as unavailable.
const maxAnswerMs = 5_000;
const claimPausesMs = [0, 250, 1_000];
const writePausesMs = [1_000, 4_000, 15_000, 60_000, 60_000];
const pageSize = 1_000;
const sweepEveryMs = 3_600_000;
// The lifetime of a claim whose text has no time limit.
const unlimitedClaimMs = 3_600_000;

/**
 * Keys that are used once, in a store. Before a request is sent, its key is claimed in one atomic step, so
 * that only one of all processes sends it. The outcome is written afterwards; a failed write is retried and
 * reported.
 *
 *       free ── claim() ──▶ claimed ──▶ answered   the service accepted the call
 *         ▲                    ├──────▶ unknown    nobody knows whether the call took effect
 *         └────────────────────┘                   the call certainly did nothing
 *
 * A claim that is not renewed in time counts as unknown, although its entry still says `claimed`; as free, if it is
 * idle. `claim()` can also take over such an entry, or an unknown one.
 */
export class Ledger {
  readonly #parts: LedgerParts;
  /** Writes that are not confirmed yet, by key. */
  readonly #pending = new Map<string, PendingWrite>();
  /** Keys whose write is retried after a pause, and the number of retries so far. A change starts them again. */
  readonly #retries = new Map<string, { count: number }>();
  /** Keys whose retries are used up. The next response of the store starts a new write. */
  readonly #postponed = new Set<string>();
  /** Claims of other processes, and when each began by the local clock. */
  readonly #seen = new Map<string, { readonly text: string | undefined; readonly at: number }>();
  #isFailing = false;
  #sweptAt: number | undefined;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  /** Reads the entry under a key. A pending write of this process to that key is done first. */
  async find(storeKey: string): Promise<StoredEntry | undefined> {
    this.#sweepIfDue();
    if (this.#pending.has(storeKey)) {
      await this.#write(storeKey);
    }
    const item = await this.#ask((store) => store.get(storeKey));
    this.#writePostponed(); // the store is available again
    if (!item) {
      this.#seen.delete(storeKey);
      return undefined;
    }
    return this.#withAge(parseItem(item) ?? refuseUnreadable(storeKey));
  }

  /**
   * Claims a free key, or replaces the entry `replaced` that was found. Resolves to the claim, or to
   * `undefined` if another process was faster. If the response to a claim is lost, the next try finds the
   * claim in the store and succeeds.
   */
  async claim(
    storeKey: string,
    claim: Claimed,
    replaced?: StoredEntry,
  ): Promise<StoredEntry<Claimed> | undefined> {
    const text = JSON.stringify(claim);
    let failure: unknown;
    for (const pauseMs of claimPausesMs) {
      await this.#pause(pauseMs);
      try {
        await this.#write(storeKey); // first finish a pending change, which may take back an earlier claim
        const stored = await this.#ask((store) => store.swap(storeKey, replaced?.text, text));
        return stored === text ? { storeKey, entry: claim, text, ageMs: 0 } : undefined;
      } catch (error) {
        failure = error;
      }
    }
    // The store may hold the claim although no response came, and the claim would block the key until it
    // expires. A pending write, such as a late answer, replaces it; otherwise the entry from before the
    // claim is restored.
    const pending = this.#pending.get(storeKey);
    if (pending) {
      pending.attempted.add(text);
    } else {
      const isFree = replaced !== undefined && isIdle(replaced);
      this.change({ storeKey, entry: claim, text, ageMs: 0 }, isFree ? undefined : replaced?.entry);
      if (isFree) {
        this.#pending.get(storeKey)?.attempted.add(replaced.text); // the store may still hold the idle claim
      }
    }
    throw failure;
  }

  /**
   * Replaces an entry, or removes it if `entry` is `undefined`. A failed write is retried in the
   * background. `tried` resolves after the first try, to whether that try succeeded.
   */
  change<E extends KeyEntry>(
    { storeKey, text }: StoredEntry,
    entry: E | undefined,
  ): { readonly stored: StoredEntry<E> | undefined; readonly tried: Promise<boolean> } {
    const target = entry && JSON.stringify(entry);
    const pending = this.#pending.get(storeKey) ?? { expected: text, target, attempted: new Set() };
    pending.target = target;
    this.#pending.set(storeKey, pending);
    const retries = this.#retries.get(storeKey);
    if (retries) {
      retries.count = 0; // a late response may arrive when the retries of the earlier write are nearly used up
    }
    const tried = this.#tryToWrite(storeKey);
    return { stored: entry && { storeKey, entry, text: target, ageMs: 0 }, tried };
  }

  /** Removes an entry, unless another process has changed it. Resolves to whether the key is free now. */
  async remove({ storeKey, text }: StoredEntry): Promise<boolean> {
    return (await this.#ask((store) => store.swap(storeKey, text, undefined))) === undefined;
  }

  /** Resolves when every pending write is done; rejects if one fails. */
  async flush(): Promise<void> {
    for (const storeKey of [...this.#pending.keys()]) {
      await this.#write(storeKey);
    }
  }

  /** All entries whose keys begin with the prefix. */
  async *entries(prefix: string): AsyncGenerator<StoredEntry, void, undefined> {
    for (let after: string | undefined; ;) {
      const page = { after, limit: pageSize };
      const items = await this.#ask((store) => store.list(prefix, page));
      for (const item of items) {
        const one = parseItem(item);
        if (one) {
          yield this.#withAge(one);
        }
      }
      after = items.at(-1)?.key;
      if (items.length < pageSize) {
        return;
      }
    }
  }

  // The age of a claim is the larger of two: the age in the store, and the time since this process first read
  // the same text, by the local clock. A test may replace the local clock by a fake one.
  #withAge(one: StoredEntry): StoredEntry {
    if (one.entry.state !== 'claimed') {
      this.#seen.delete(one.storeKey);
      return one;
    }
    const now = this.#parts.clock.now();
    const seen = this.#seen.get(one.storeKey);
    const since = seen && seen.text === one.text ? seen : { text: one.text, at: now - one.ageMs };
    this.#seen.set(one.storeKey, since);
    return { ...one, ageMs: Math.max(one.ageMs, now - since.at) };
  }

  async #tryToWrite(storeKey: string): Promise<boolean> {
    try {
      await this.#write(storeKey);
      return true;
    } catch (error) {
      if (!this.#isFailing) {
        this.#isFailing = true;
        this.#parts.warn(
          `${reasonSentence(error)} The outcome of the call is written as soon as the journal answers. If the process ends before that, the outcome counts as unknown.`,
        );
      }
      // On Workers no request may wait for another one, so each request retries for itself.
      if (hasIoContexts() || !this.#retries.has(storeKey)) {
        void this.#retry(storeKey);
      }
      return false;
    }
  }

  // Nothing awaits these retries, so they do not keep the process alive. `find()` and `flush()` write at
  // once, and throw if the write fails.
  async #retry(storeKey: string): Promise<void> {
    const retries = { count: 0 };
    this.#retries.set(storeKey, retries);
    for (;;) {
      const pauseMs = writePausesMs[retries.count++];
      if (pauseMs === undefined) {
        break;
      }
      await new Promise<void>((resolve) => {
        const { clock } = this.#parts;
        clock.at(clock.now() + pauseMs, resolve, { keepsAlive: false });
      });
      try {
        await this.#write(storeKey);
        this.#retries.delete(storeKey);
        return;
      } catch {
        // the first failure was reported
      }
    }
    this.#retries.delete(storeKey);
    this.#postponed.add(storeKey);
    this.#parts.warn(
      'The journal still cannot be written. The next call with a key tries again. Until then, other processes treat the outcome of the call as unknown.',
    );
  }

  #writePostponed(): void {
    const storeKeys = [...this.#postponed];
    this.#postponed.clear();
    storeKeys.forEach((storeKey) => void this.#tryToWrite(storeKey));
  }

  /**
   * Writes the pending change of a key by compare-and-swap: replaces the expected text by the target, until no
   * change is pending. The text that the store holds afterwards decides. The first line that applies counts:
   *
   *     the store holds                          the change
   *     the target                               is done
   *     the expected text                        is dropped: the store did not swap
   *     an older text of this process            is sent again: replace that older text
   *     nothing: the store lost the key          is sent again: create the entry
   *     an entry that the target may replace     is sent again: replace that entry, see `mayReplace()`
   *     an entry of another process              is dropped
   *
   * A dropped answer is kept under a separate key, unless the store holds the same answer. `change()` may set
   * another target while a swap runs. The text that this swap wrote then counts as one that this process sent
   * earlier.
   */
  async #write(storeKey: string): Promise<void> {
    for (
      let pending = this.#pending.get(storeKey);
      pending;
      pending = this.#pending.get(storeKey)
    ) {
      const { expected, target, attempted } = pending;
      attempted.add(target);
      const stored = await this.#ask((store) => store.swap(storeKey, expected, target));
      this.#isFailing = false;
      if (this.#pending.get(storeKey) !== pending) {
        continue; // a concurrent `#write` of this key has settled the change
      }
      if (stored === pending.target) {
        this.#pending.delete(storeKey);
      } else if (stored !== expected && maySwapFrom(stored, pending)) {
        pending.expected = stored;
      } else {
        this.#pending.delete(storeKey);
        const entry = parseEntry(pending.target);
        if (entry?.state === 'answered' && !isSameAnswer(pending.target, stored)) {
          this.keepBeside(storeKey, entry);
        }
      }
    }
  }

  /** Writes an answer under a separate key, because its own key holds another entry: no id is lost. */
  keepBeside(storeKey: string, entry: Answered): void {
    const beside = `${storeKey}/${nameOf([entry.id])}`;
    this.change({ storeKey: beside, entry, text: undefined, ageMs: 0 }, entry);
    this.#parts.warn(
      `The key "${entry.key}" of ${entry.call} was changed by another process, or by another attempt of the call, while its call was under way. The response of this call was written next to it, under a separate key.`,
    );
  }

  #sweepIfDue(): void {
    const { clock, keepMs } = this.#parts;
    const isDue = clock.now() - (this.#sweptAt ?? Number.NEGATIVE_INFINITY) >= sweepEveryMs;
    if (isDue && Number.isFinite(keepMs)) {
      this.#sweptAt = clock.now();
      this.#sweep().catch(() => undefined); // the next sweep removes the rest
    }
  }

  // A sweep reads all keys, so only one process of a service does it, at most hourly.
  async #sweep(): Promise<void> {
    const { keepMs, scopes, owner, service } = this.#parts;
    const storeKey = `swept/${scopes[0] ?? ''}/${service.name}`;
    const last = await this.#ask((store) => store.get(storeKey));
    const turn = JSON.stringify(crypto.randomUUID());
    if (last && last.ageMs < sweepEveryMs) {
      return;
    }
    if ((await this.#ask((store) => store.swap(storeKey, last?.value, turn))) !== turn) {
      return;
    }
    for (const scope of scopes) {
      for await (const one of this.entries(`once/${scope}/`)) {
        const { state, owner: whose, call } = one.entry;
        const isOwn = service.hasCall(call) && (scope === scopes[0] || whose === owner);
        if (isOwn && state === 'answered' && one.ageMs > keepMs) {
          await this.remove(one);
        }
      }
    }
  }

  async #pause(delayMs: number): Promise<void> {
    if (delayMs > 0) {
      await sleep(delayMs, undefined, this.#parts.clock);
    }
  }

  async #ask<T>(request: (store: JournalStore) => Promise<T>): Promise<T> {
    const { store, clock } = this.#parts;
    try {
      if (store.load) {
        await store.load(); // loading a large file takes longer than `maxAnswerMs`
      }
      return await answerWithin(request(store), maxAnswerMs, { onLate: () => undefined, clock });
    } catch (cause) {
      if (isPostreelError(cause)) {
        throw cause; // its message already says what to do
      }
      throw new PostreelError(`The journal could not be read or written: ${reasonOf(cause)}`, {
        code: 'JOURNAL_UNAVAILABLE',
        outcome: 'not-sent',
        cause,
      });
    }
  }
}

/** Does the entry hold a response? */
export function isAnswered(stored: StoredEntry): stored is StoredEntry<Answered> {
  return stored.entry.state === 'answered';
}

/** Is the call of the claim still running, as far as the store knows? */
export function isAlive(stored: StoredEntry): boolean {
  return leftMsOf(stored) > 0;
}

/** Is it a claim whose call has certainly done nothing so far? Once it expires, its key is free. */
export function isIdle({ entry }: StoredEntry): boolean {
  return entry.state === 'claimed' && entry.idle === true;
}

/** The remaining lifetime of a claim in milliseconds, by the store's clock; 0 for every other entry. */
export function leftMsOf({ entry, ageMs }: StoredEntry): number {
  if (entry.state !== 'claimed') {
    return 0;
  }
  const limitMs = Number.isFinite(entry.limitMs) ? entry.limitMs : unlimitedClaimMs;
  return Math.max(0, limitMs - ageMs);
}

/** The same call, with an unknown outcome. */
export function unknownOf(entry: Claimed | Unknown): Unknown {
  const { id, key, call, print, owner, content } = entry;
  const facts = { id, key, call, print, ...(owner !== undefined && { owner }) };
  return { ...facts, state: 'unknown', ...(content !== undefined && { content }) };
}

/**
 * The entry that a new claim replaces, in the form that is written back if the call certainly did
 * nothing. An expired claim is written back as unknown, because it must not come back to life.
 */
export function restorableOf(stored: StoredEntry): StoredEntry {
  const { entry } = stored;
  return entry.state === 'claimed' ? { ...stored, entry: unknownOf(entry) } : stored;
}

/** May a pending change replace this text, which the store holds in place of the expected one? */
function maySwapFrom(stored: string | undefined, { target, attempted }: PendingWrite): boolean {
  return attempted.has(stored) || stored === undefined || mayReplace(target, stored);
}

// An answer may replace two kinds of entries: an unknown one of the same content, because the answer settles it;
// and the same answer, written by another process, if its job is at an earlier stage there.
function mayReplace(target: string | undefined, stored: string): boolean {
  const [own, other] = [parseEntry(target), parseEntry(stored)];
  if (own?.state !== 'answered') {
    return false;
  }
  // Compare the contents: the key may have been forgotten and used again for other content.
  const answersIt = other?.state === 'unknown' && own.print === other.print;
  return answersIt || (isSameAnswer(target, stored) && progressOf(own) > progressOf(other));
}

/** Do both texts hold the answer to one call, at whatever stage its job is? */
function isSameAnswer(target: string | undefined, stored: string | undefined): boolean {
  const [own, other] = [parseEntry(target), parseEntry(stored)];
  const areAnswers = own?.state === 'answered' && other?.state === 'answered';
  const isSame = areAnswers && JSON.stringify(own.answer) === JSON.stringify(other.answer);
  return isSame && own.id === other.id;
}

function progressOf(entry: KeyEntry | undefined): number {
  const end = entry?.state === 'answered' ? entry.end : undefined;
  return end === undefined ? 0 : end === 'done' ? 1 : 2;
}

/** Did a call fail because the journal is unavailable? */
export function isJournalUnavailable(failure: unknown): boolean {
  return isPostreelError(failure) && failure.code === 'JOURNAL_UNAVAILABLE';
}

// Nothing may be sent under a key whose entry cannot be read.
function refuseUnreadable(storeKey: string): never {
  throw new PostreelError(
    `The journal holds something under ${storeKey} that this version of postreel did not write. Use another journal, or remove that key.`,
    { code: 'JOURNAL_UNREADABLE', outcome: 'not-sent' },
  );
}

function parseItem({ key, value, ageMs }: JournalItem): StoredEntry | undefined {
  const entry = parseEntry(value);
  return entry && { storeKey: key, entry, text: value, ageMs };
}

/** Parses an entry; `undefined` if this library did not write it. */
function parseEntry(text: string | undefined): KeyEntry | undefined {
  try {
    const entry = JSON.parse(text ?? '') as KeyEntry; // as: written by this library, or rejected below
    return states.has(entry.state) ? entry : undefined;
  } catch {
    return undefined;
  }
}

const states: ReadonlySet<unknown> = new Set(['claimed', 'unknown', 'answered']);
