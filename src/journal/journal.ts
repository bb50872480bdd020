import { answerWithin, type Clock } from '../core/async.js';
import { PostreelError, reasonOf } from '../core/errors.js';
import {
  factNames,
  givenUp,
  stateOf,
  type Accepted,
  type Claim,
  type Fact,
  type FactName,
  type Facts,
  type Refused,
} from './facts.js';
import type { JournalStore } from './store.js';

/** One attempt to hand in what has this name. */
export interface Attempt {
  readonly name: string;
  /** From 1. */
  readonly number: number;
  readonly facts: Facts;
}

/** What a journal stands on. */
export interface JournalParts {
  readonly store: JournalStore;
  /** What all of its keys begin with. */
  readonly prefix: string;
  readonly clock: Clock;
  /** The facts that are written at all; the others are not looked for. */
  readonly facts?: readonly FactName[];
  /** Says that a write has failed, once an outage, and what that means. */
  readonly onTrouble: (message: string) => void;
}

// A store that is slower than this is as good as gone.
const maxAnswerMs = 5_000;
const retryDelaysMs = [1_000, 4_000, 15_000, 60_000];
const claimRetriesMs = [0, 250, 1_000];
const pageSize = 1_000;
const maxKeysAtOnce = 2_000;
// Of more than these another run does not know: memory must not grow with an outage.
const maxGivenUp = 10_000;

/** The facts about named jobs or emails in a store: claimed, answered, read back. */
export class Journal {
  readonly #parts: JournalParts;
  readonly #facts: readonly FactName[];
  /** Writes on their way, those that are repeated included. */
  readonly #writes = new Set<Promise<void>>();
  /** Keys whose write has failed, with their values, until they are written after all. */
  readonly #unwritten = new Map<string, string>();
  /** Those that were given up, until `flush()` tells of them. */
  readonly #lost = new Map<string, unknown>();
  #isFailing = false;

  constructor(parts: JournalParts) {
    this.#parts = parts;
    this.#facts = parts.facts ?? factNames;
  }

  /** The store's time. */
  now(): Promise<number> {
    return this.#asked((store) => store.now());
  }

  /**
   * For each name the first attempt that is not over: the last one, or the next. What this process
   * knows of it and could not write so far is written before.
   */
  async find(
    names: readonly string[],
    isOver: (facts: Facts) => boolean,
  ): Promise<Map<string, Attempt>> {
    await this.#writeAgain(this.#unwrittenOf(names));
    const found = new Map<string, Attempt>();
    let open = [...new Set(names)];
    // Most have one attempt: look for 1, then 2 and 3, then 4 to 7.
    for (let from = 1; open.length > 0; from *= 2) {
      const numbers = Array.from({ length: from }, (_, index) => from + index);
      const keys = open.flatMap((name) =>
        numbers.flatMap((number) => this.#facts.map((fact) => this.#key(name, number, fact))),
      );
      const values = await this.#get(keys);
      const refusals = await this.#get(
        open.flatMap((name) => numbers.flatMap((number) => this.#givenUpKey(values, name, number))),
      );
      refusals.forEach((value, key) => values.set(key, value));
      for (const name of open) {
        const attempts = numbers.map((number) => this.#attempt(values, name, number));
        const attempt = attempts.find(({ facts }) => !isOver(facts));
        if (attempt) {
          found.set(name, attempt);
        }
      }
      open = open.filter((name) => !found.has(name));
    }
    return found;
  }

  /**
   * Claims an attempt. Resolves to the claim that stands, ours or another one. Made again after a lost
   * answer, with the same id, it finds itself.
   */
  async claim({ name, number }: Attempt, claim: Claim): Promise<Claim> {
    const key = this.#key(name, number, 'claim');
    const value = JSON.stringify(claim);
    let failure: unknown;
    for (const delayMs of claimRetriesMs) {
      await this.#pause(delayMs);
      try {
        const standing = await this.#asked((store) => store.putIfAbsent(key, value));
        return JSON.parse(standing) as Claim; // as written
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  /**
   * Writes a fact. What fails is made again in the background: facts may arrive late. Resolves after
   * the first try, and says whether that wrote it.
   */
  async write(
    { name, number }: Pick<Attempt, 'name' | 'number'>,
    fact: FactName,
    value: Fact | Refused | Accepted | Claim,
  ): Promise<boolean> {
    return this.put(this.#key(name, number, fact).slice(this.#parts.prefix.length), value);
  }

  /** The same for a key of its own, without the prefix. */
  async put(key: string, value: object): Promise<boolean> {
    const full = this.#parts.prefix + key;
    const text = JSON.stringify(value);
    const first = this.#write(full, text);
    const all = first.catch((error: unknown) => {
      this.#unwritten.set(full, text);
      if (!this.#isFailing) {
        this.#isFailing = true;
        this.#parts.onTrouble(
          `${sentence(error)} It is written again; a crash until then loses it.`,
        );
      }
      return this.#repeat(full, text);
    });
    this.#writes.add(all);
    all.then(
      () => this.#writes.delete(all),
      () => this.#writes.delete(all),
    );
    return first.then(
      () => true,
      () => false,
    );
  }

  /** Resolves when everything is written; rejects when something never could be. */
  async flush(): Promise<void> {
    await Promise.allSettled(this.#writes);
    await this.#writeAgain([...this.#lost.keys()]).catch(() => undefined);
    if (this.#lost.size > 0) {
      const [failure] = this.#lost.values();
      this.#lost.clear();
      throw failure;
    }
    await this.#asked((store) => store.flush());
  }

  /** Every attempt whose name begins like this, name by name. */
  async *attempts(begin = ''): AsyncGenerator<Attempt, void, undefined> {
    const { prefix } = this.#parts;
    let open: { name: string; number: number; facts: Record<string, Fact> } | undefined;
    for await (const { key, value } of this.items(begin)) {
      const [fact = '', number = '', ...name] = key.slice(prefix.length).split('/').reverse();
      const own = { name: name.reverse().join('/'), number: Number(number), facts: {} };
      if (open?.name !== own.name || open.number !== own.number) {
        if (open) {
          yield open;
        }
        open = own;
      }
      open.facts[fact] = parsed(value);
    }
    if (open) {
      yield open;
    }
  }

  /** Keys and values as they are stored. */
  async *items(begin = ''): AsyncGenerator<{ key: string; value: string }, void, undefined> {
    const prefix = this.#parts.prefix + begin;
    for (let after: string | undefined; ;) {
      const page = { after, limit: pageSize };
      const items = await this.#asked((store) => store.list(prefix, page));
      yield* items;
      after = items.at(-1)?.key;
      if (items.length < pageSize) {
        return;
      }
    }
  }

  /** Removes all that is known of an attempt, and other keys without their prefix. */
  async remove(attempts: readonly Attempt[], keys: readonly string[]): Promise<void> {
    const own = attempts.flatMap(
      ({ name, number, facts }) =>
        Object.keys(facts).map((fact) => this.#key(name, number, fact as FactName)), // as listed
    );
    const all = [...own, ...keys.map((key) => this.#parts.prefix + key)];
    if (all.length > 0) {
      await this.#asked((store) => store.delete(all));
    }
  }

  #key(name: string, number: number, fact: FactName): string {
    return `${this.#parts.prefix}${name}/${String(number).padStart(6, '0')}/${fact}`;
  }

  #attempt(values: ReadonlyMap<string, string>, name: string, number: number): Attempt {
    const facts: Record<string, Fact> = {};
    for (const fact of this.#facts) {
      const value = values.get(this.#key(name, number, fact));
      if (value !== undefined) {
        facts[fact] = parsed(value);
      }
    }
    const { claim }: Facts = facts;
    if (claim) {
      const value = values.get(this.#key(name, number, givenUp(claim.id)));
      Object.assign(facts, value !== undefined && { [givenUp(claim.id)]: parsed(value) });
    }
    return { name, number, facts };
  }

  // Looked for where it decides: at claims that nothing else is known of.
  #givenUpKey(values: ReadonlyMap<string, string>, name: string, number: number): string[] {
    const state = stateOf(this.#attempt(values, name, number).facts);
    return state.state === 'claimed' ? [this.#key(name, number, givenUp(state.claim.id))] : [];
  }

  async #get(keys: readonly string[]): Promise<Map<string, string>> {
    const all = new Map<string, string>();
    for (let start = 0; start < keys.length; start += maxKeysAtOnce) {
      const some = keys.slice(start, start + maxKeysAtOnce);
      for (const [key, value] of await this.#asked((store) => store.get(some))) {
        all.set(key, value);
      }
    }
    return all;
  }

  async #write(key: string, text: string): Promise<void> {
    await this.#asked((store) => store.put(key, text));
    this.#isFailing = false;
    this.#unwritten.delete(key);
    this.#lost.delete(key);
  }

  async #repeat(key: string, text: string): Promise<void> {
    let failure: unknown;
    for (const delayMs of retryDelaysMs) {
      await this.#pause(delayMs);
      if (!this.#unwritten.has(key)) {
        return; // written meanwhile
      }
      try {
        await this.#write(key, text);
        return;
      } catch (error) {
        failure = error;
      }
    }
    this.#lost.set(key, failure);
    if (this.#unwritten.size > maxGivenUp) {
      this.#unwritten.delete(key);
    }
    this.#parts.onTrouble(
      `${sentence(failure)} It is tried again with the next look at its job or email, and at the end: until then another run does not know what became of it.`,
    );
  }

  #unwrittenOf(names: readonly string[]): string[] {
    if (this.#unwritten.size === 0) {
      return [];
    }
    const own = new Set(names.map((name) => this.#parts.prefix + name));
    return [...this.#unwritten.keys()].filter((key) =>
      own.has(key.split('/').slice(0, -2).join('/')),
    );
  }

  async #writeAgain(keys: readonly string[]): Promise<void> {
    await Promise.all(
      keys.map(async (key) => {
        const text = this.#unwritten.get(key);
        if (text !== undefined) {
          await this.#write(key, text);
        }
      }),
    );
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
      return await answerWithin(ask(store), maxAnswerMs, { onLate: () => undefined, clock });
    } catch (cause) {
      throw unavailable(cause);
    }
  }
}

// A value that is none of ours says nothing more than that it is there.
function parsed(value: string): Fact {
  try {
    return JSON.parse(value) as Fact; // as written
  } catch {
    return { at: 0 };
  }
}

function sentence(error: unknown): string {
  return `${reasonOf(error).replace(/\.$/, '')}.`;
}

/** The error of a journal that cannot be reached. Nothing is handed in without one. */
function unavailable(cause: unknown): PostreelError {
  return new PostreelError(`The journal could not be read or written: ${reasonOf(cause)}`, {
    code: 'JOURNAL_UNAVAILABLE',
    outcome: 'not-sent',
    cause,
  });
}
