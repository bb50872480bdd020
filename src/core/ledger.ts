import { answerWithin, hasIoContexts, sleep, type Clock } from './async.js';
import { isPostreelError, PostreelError, reasonOf } from './errors.js';
import { nameOf, type JournalItem, type JournalStore } from './journal.js';

/** What stands under a key. A key without an entry is free: what was done under it came to nothing. */
export type KeyEntry = Claimed | Unknown | Answered;

interface Written {
  /** One of a kind: no other claim is mistaken for it, also where a write comes late or twice. */
  readonly id: string;
  /** The key as its caller gave it. */
  readonly key: string;
  /** The call, e.g. `POST /v1/send`. */
  readonly call: string;
  /** Which content it has; empty where the content does not matter. */
  readonly print: string;
  /** Whose it is, where several share the keys. */
  readonly owner?: string | undefined;
}

/** It is about to be sent, or on its way. */
export interface Claimed extends Written {
  readonly state: 'claimed';
  /**
   * How long it lives without a renewal: when it is older, nobody knows what became of its call. Versions
   * before the renewals wrote `null` for a call without a time limit.
   */
  readonly limitMs: number;
  /** How often it was renewed: each renewal changes the text. */
  readonly renewals?: number | undefined;
  /** What it needs to be named by until it is answered. */
  readonly content?: unknown;
}

/** Nobody knows whether it happened. */
export interface Unknown extends Written {
  readonly state: 'unknown';
  readonly content?: unknown;
}

/** The service took it. */
export interface Answered extends Written {
  readonly state: 'answered';
  readonly answer: unknown;
  /** What came of it later, where something does. */
  readonly end?: 'done' | 'failed' | 'canceled' | 'saved' | 'dismissed' | undefined;
}

/** An entry as it stands in the store. */
export interface StoredEntry<E extends KeyEntry = KeyEntry> {
  /** The full key. */
  readonly place: string;
  readonly entry: E;
  /** The entry as text: what a change must find; `undefined` while nothing stands there. */
  readonly text: string | undefined;
  readonly ageMs: number;
}

/** What a ledger stands on. */
export interface LedgerParts {
  readonly store: JournalStore;
  readonly clock: Clock;
  /** How long answered keys are kept, in milliseconds. */
  readonly keepMs: number;
  /** Whose answered keys are removed after that: see {@link KeyScope}. */
  readonly scopes: readonly string[];
  /** The same among the keys of a named queue. */
  readonly owner: string | undefined;
  /** The service of this client: the other one may have its keys at the same places. */
  readonly service: {
    readonly name: string;
    /** Does a call belong to the service? It stands in each entry. */
    readonly hasCall: (call: string) => boolean;
  };
  /** Says that a write has failed, once an outage, and what that means. */
  readonly warn: (message: string) => void;
}

interface PendingWrite {
  base: string | undefined;
  wanted: string | undefined;
  /** What was sent to the store: it may stand there though no answer came. */
  readonly tried: Set<string | undefined>;
}

// A store that is slower than this is as good as gone.
const maxAnswerMs = 5_000;
const claimPausesMs = [0, 250, 1_000];
const writePausesMs = [1_000, 4_000, 15_000, 60_000, 60_000];
const pageSize = 1_000;
const sweepEveryMs = 3_600_000;
// Of a claim whose text names no time.
const unlimitedClaimMs = 3_600_000;

/**
 * Keys that are used once, in a store. A key is claimed before anything is sent under it, by one atomic
 * step, so that of all processes one sends it. What became of it is written afterwards; what cannot be
 * written is tried again, and reported.
 */
export class Ledger {
  readonly #parts: LedgerParts;
  /** What is to be written, and what stands there as far as is known. */
  readonly #ahead = new Map<string, PendingWrite>();
  /** The places that are written again after a pause. */
  readonly #retrying = new Set<string>();
  /** The places that were retried often enough: the next answer of the store begins again. */
  readonly #postponed = new Set<string>();
  /** Claims of others that were seen, and when they began. */
  readonly #seen = new Map<string, { readonly text: string | undefined; readonly at: number }>();
  #isFailing = false;
  #sweptAt: number | undefined;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  /** What stands under a key. What this process could not write so far is written before. */
  async find(place: string): Promise<StoredEntry | undefined> {
    this.#sweepNowAndThen();
    if (this.#ahead.has(place)) {
      await this.#write(place);
    }
    const item = await this.#asked((store) => store.get(place));
    this.#writePostponed(); // the store answers
    if (!item) {
      this.#seen.delete(place);
      return undefined;
    }
    return this.#aged(known(item) ?? unreadable(place));
  }

  /**
   * Claims a key that is free, or takes over the entry that was found. Resolves to the claim, or to
   * `undefined` when another process was faster. A claim whose answer was lost finds itself.
   */
  async claim(
    place: string,
    claim: Claimed,
    over?: StoredEntry,
  ): Promise<StoredEntry<Claimed> | undefined> {
    const text = JSON.stringify(claim);
    let failure: unknown;
    for (const pauseMs of claimPausesMs) {
      await this.#pause(pauseMs);
      try {
        await this.#write(place); // an earlier claim that may stand there is taken back before
        const stands = await this.#asked((store) => store.swap(place, over?.text, text));
        return stands === text ? { place, entry: claim, text, ageMs: 0 } : undefined;
      } catch (error) {
        failure = error;
      }
    }
    // It may be written all the same, and would block the key until its time is over. What is to be
    // written there anyway, such as a late answer, takes its place.
    const ahead = this.#ahead.get(place);
    if (ahead) {
      ahead.tried.add(text);
    } else {
      this.change({ place, entry: claim, text, ageMs: 0 }, over?.entry);
    }
    throw failure;
  }

  /**
   * Writes another entry in place of one, or none. Where that fails, it is written again in the background.
   * `tried` resolves after the first try, to whether it has succeeded.
   */
  change<E extends KeyEntry>(
    { place, text }: StoredEntry,
    entry: E | undefined,
  ): { readonly parseItem: StoredEntry<E> | undefined; readonly tried: Promise<boolean> } {
    const wanted = entry && JSON.stringify(entry);
    const ahead = this.#ahead.get(place) ?? { base: text, wanted, tried: new Set() };
    ahead.wanted = wanted;
    this.#ahead.set(place, ahead);
    const tried = this.#tryToWrite(place);
    return { parseItem: entry && { place, entry, text: wanted, ageMs: 0 }, tried };
  }

  /** Removes an entry, if it still stands there. Resolves to whether the key is free. */
  async remove({ place, text }: StoredEntry): Promise<boolean> {
    return (await this.#asked((store) => store.swap(place, text, undefined))) === undefined;
  }

  /** Resolves when everything is written; rejects when something could not be. */
  async flush(): Promise<void> {
    for (const place of [...this.#ahead.keys()]) {
      await this.#write(place);
    }
  }

  /** All entries whose keys begin like this. */
  async *entries(prefix: string): AsyncGenerator<StoredEntry, void, undefined> {
    for (let after: string | undefined; ;) {
      const page = { after, limit: pageSize };
      const items = await this.#asked((store) => store.list(prefix, page));
      for (const item of items) {
        const one = known(item);
        if (one) {
          yield this.#aged(one);
        }
      }
      after = items.at(-1)?.key;
      if (items.length < pageSize) {
        return;
      }
    }
  }

  // A claim grows older by our own clock too, which may be a fake's.
  #aged(one: StoredEntry): StoredEntry {
    if (one.entry.state !== 'claimed') {
      this.#seen.delete(one.place);
      return one;
    }
    const now = this.#parts.clock.now();
    const seen = this.#seen.get(one.place);
    const since = seen && seen.text === one.text ? seen : { text: one.text, at: now - one.ageMs };
    this.#seen.set(one.place, since);
    return { ...one, ageMs: Math.max(one.ageMs, now - since.at) };
  }

  async #tryToWrite(place: string): Promise<boolean> {
    try {
      await this.#write(place);
      return true;
    } catch (error) {
      if (!this.#isFailing) {
        this.#isFailing = true;
        this.#parts.warn(
          `${sentence(error)} What became of a call is written as soon as the journal answers; if the process ends before that, it counts as unknown.`,
        );
      }
      // Where no request may wait for another (Workers) each retries for itself.
      if (hasIoContexts() || !this.#retrying.has(place)) {
        void this.#retry(place);
      }
      return false;
    }
  }

  // Nobody awaits it: it does not keep the process alive. `find()` and `flush()` write at once, and throw.
  async #retry(place: string): Promise<void> {
    this.#retrying.add(place);
    for (const pauseMs of writePausesMs) {
      await new Promise<void>((resolve) => {
        const { clock } = this.#parts;
        clock.at(clock.now() + pauseMs, resolve, { keepsAlive: false });
      });
      try {
        await this.#write(place);
        this.#retrying.delete(place);
        return;
      } catch {
        // the first failure was reported
      }
    }
    this.#retrying.delete(place);
    this.#postponed.add(place);
    this.#parts.warn(
      'The journal still cannot be written. It is tried again with the next call that has a key; until then other processes take what became of the call for unknown.',
    );
  }

  #writePostponed(): void {
    const places = [...this.#postponed];
    this.#postponed.clear();
    places.forEach((place) => void this.#tryToWrite(place));
  }

  async #write(place: string): Promise<void> {
    for (let ahead = this.#ahead.get(place); ahead; ahead = this.#ahead.get(place)) {
      const { base, wanted, tried } = ahead;
      tried.add(wanted);
      const stands = await this.#asked((store) => store.swap(place, base, wanted));
      this.#isFailing = false;
      if (this.#ahead.get(place) !== ahead) {
        continue; // another call of this has settled it meanwhile
      }
      if (stands === ahead.wanted) {
        this.#ahead.delete(place);
      } else if (
        stands !== base &&
        (tried.has(stands) || stands === undefined || mayReplace(ahead.wanted, stands))
      ) {
        // It was changed again while it was written, or the store has lost the key.
        ahead.base = stands;
      } else {
        this.#ahead.delete(place);
        const entry = entryIn(ahead.wanted);
        if (entry?.state === 'answered' && !isSameAnswer(ahead.wanted, stands)) {
          this.keepBeside(place, entry);
        }
      }
    }
  }

  /** Writes a response under a separate key, because another value stands under its own: no id is dropped. */
  keepBeside(place: string, entry: Answered): void {
    const beside = `${place}/${nameOf([entry.id])}`;
    this.change({ place: beside, entry, text: undefined, ageMs: 0 }, entry);
    this.#parts.warn(
      `The key "${entry.key}" of ${entry.call} was changed by another process, or by another attempt of the call, while its call was under way. The response of this call was written next to it, under a separate key.`,
    );
  }

  #sweepNowAndThen(): void {
    const { clock, keepMs } = this.#parts;
    const isDue = clock.now() - (this.#sweptAt ?? Number.NEGATIVE_INFINITY) >= sweepEveryMs;
    if (isDue && Number.isFinite(keepMs)) {
      this.#sweptAt = clock.now();
      this.#sweep().catch(() => undefined); // the next one removes the rest
    }
  }

  // Of all processes of a service one does it, at most hourly: it reads all keys.
  async #sweep(): Promise<void> {
    const { keepMs, scopes, owner, service } = this.#parts;
    const place = `swept/${scopes[0] ?? ''}/${service.name}`;
    const last = await this.#asked((store) => store.get(place));
    const turn = JSON.stringify(crypto.randomUUID());
    if (last && last.ageMs < sweepEveryMs) {
      return;
    }
    if ((await this.#asked((store) => store.swap(place, last?.value, turn))) !== turn) {
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

  async #asked<T>(ask: (store: JournalStore) => Promise<T>): Promise<T> {
    const { store, clock } = this.#parts;
    try {
      if (store.load) {
        await store.load(); // a large file takes longer than an answer may
      }
      return await answerWithin(ask(store), maxAnswerMs, { onLate: () => undefined, clock });
    } catch (cause) {
      if (isPostreelError(cause)) {
        throw cause; // it says what to do
      }
      throw new PostreelError(`The journal could not be read or written: ${reasonOf(cause)}`, {
        code: 'JOURNAL_UNAVAILABLE',
        outcome: 'not-sent',
        cause,
      });
    }
  }
}

/** Is its call still running, as far as the store knows? */
export function isAlive(known: StoredEntry): boolean {
  return leftMsOf(known) > 0;
}

/** How long a claim still lives, by the store's clock; 0 for every other entry. */
export function leftMsOf({ entry, ageMs }: StoredEntry): number {
  if (entry.state !== 'claimed') {
    return 0;
  }
  const limitMs = Number.isFinite(entry.limitMs) ? entry.limitMs : unlimitedClaimMs;
  return Math.max(0, limitMs - ageMs);
}

/** The same call, with the outcome unknown. */
export function unknownOf(entry: Claimed | Unknown): Unknown {
  const { id, key, call, print, owner, content } = entry;
  const facts = { id, key, call, print, ...(owner !== undefined && { owner }) };
  return { ...facts, state: 'unknown', ...(content !== undefined && { content }) };
}

/**
 * An entry that a call is sent over, as it is written back if the call certainly did nothing. A claim that
 * has expired is written back as unknown: it is not brought back to life.
 */
export function takenOver(known: StoredEntry): StoredEntry {
  const { entry } = known;
  return entry.state === 'claimed' ? { ...known, entry: unknownOf(entry) } : known;
}

// A later call of the key is unknown, and this one was answered; or another process has written the same
// answer, which has come further since.
function mayReplace(wanted: string | undefined, stands: string): boolean {
  const [own, other] = [entryIn(wanted), entryIn(stands)];
  if (own?.state !== 'answered') {
    return false;
  }
  // The same content: a key that was forgotten meanwhile may stand for another one.
  const answersIt = other?.state === 'unknown' && own.print === other.print;
  return answersIt || (isSameAnswer(wanted, stands) && progressOf(own) > progressOf(other));
}

/** Is it the answer to one call, whatever came of it later? */
function isSameAnswer(wanted: string | undefined, stands: string | undefined): boolean {
  const [own, other] = [entryIn(wanted), entryIn(stands)];
  const areAnswers = own?.state === 'answered' && other?.state === 'answered';
  const isSame = areAnswers && JSON.stringify(own.answer) === JSON.stringify(other.answer);
  return isSame && own.id === other.id;
}

function progressOf(entry: KeyEntry | undefined): number {
  const end = entry?.state === 'answered' ? entry.end : undefined;
  return end === undefined ? 0 : end === 'done' ? 1 : 2;
}

/** Has a call failed because the journal does not answer? */
export function isJournalGone(failure: unknown): boolean {
  return isPostreelError(failure) && failure.code === 'JOURNAL_UNAVAILABLE';
}

// Nothing may be sent under a key of which nobody can tell what it stands for.
function unreadable(place: string): never {
  throw new PostreelError(
    `The journal holds something under ${place} that this version of postreel did not write. Use another journal, or remove that key.`,
    { code: 'JOURNAL_UNREADABLE', outcome: 'not-sent' },
  );
}

function known({ key, value, ageMs }: JournalItem): StoredEntry | undefined {
  const entry = entryIn(value);
  return entry && { place: key, entry, text: value, ageMs };
}

/** The entry of a text; `undefined` where it is none of ours. */
function entryIn(text: string | undefined): KeyEntry | undefined {
  try {
    const entry = JSON.parse(text ?? '') as KeyEntry; // as written, or none of ours
    return states.has(entry.state) ? entry : undefined;
  } catch {
    return undefined;
  }
}

const states: ReadonlySet<unknown> = new Set(['claimed', 'unknown', 'answered']);

function sentence(error: unknown): string {
  return `${reasonOf(error).replace(/\.$/, '')}.`;
}
