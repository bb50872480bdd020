import type { JournalItem, JournalStore } from 'postreel';
import type { Random } from './random.js';
import type { VirtualTime } from './time.js';

/** When a store fails, and how. */
export interface StoreHabits {
  readonly outages: readonly { readonly from: number; readonly to: number }[];
  readonly outage: 'refuses' | 'hangs' | 'loses';
  /** How often, without an outage, it takes seconds, or longer than anybody waits. */
  readonly slowChance: number;
  /** How often, without an outage, it refuses, or its answer is lost. */
  readonly faultChance: number;
}

/** A process that asks the store: it may die at any of these moments. */
export interface Asker {
  readonly isDead: boolean;
  moment(name: string): void;
}

/** A journal's store that outlives its processes, fails for a while, answers late, or writes and does not answer. */
export class ModelStore {
  /** Nothing fails any more. */
  isCalm = false;
  /** When it failed, or was too slow. */
  readonly troubles: number[] = [];
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #habits: StoreHabits;
  readonly #values = new Map<string, { readonly value: string; readonly at: number }>();

  constructor(time: VirtualTime, random: Random, habits: StoreHabits) {
    this.#time = time;
    this.#random = random;
    this.#habits = habits;
  }

  /** Does a text stand anywhere in it? */
  holds(text: string): boolean {
    return [...this.#values.values()].some(({ value }) => value.includes(text));
  }

  /** The store as one process has it. */
  of(asker: Asker): JournalStore {
    return {
      swap: (key, from, to) => this.#ask(asker, () => this.#swap(key, from, to)),
      get: (key) => this.#ask(asker, () => this.#item(key)),
      list: (prefix, { after = '', limit = Infinity } = {}) =>
        this.#ask(asker, () =>
          [...this.#values.keys()]
            .filter((key) => key.startsWith(prefix) && key > after)
            .sort()
            .slice(0, limit)
            .map((key) => this.#item(key)!),
        ),
    };
  }

  #swap(key: string, from: string | undefined, to: string | undefined): string | undefined {
    if (this.#values.get(key)?.value === from) {
      if (to === undefined) {
        this.#values.delete(key);
      } else {
        this.#values.set(key, { value: to, at: this.#time.now() });
      }
    }
    return this.#values.get(key)?.value;
  }

  #item(key: string): JournalItem | undefined {
    const found = this.#values.get(key);
    return found && { key, value: found.value, ageMs: this.#time.now() - found.at };
  }

  #ask<T>(asker: Asker, work: () => T): Promise<T> {
    const { slowChance } = this.#habits;
    const random = this.#random;
    asker.moment('the store is asked');
    if (asker.isDead) {
      return never();
    }
    const outage = this.#outage();
    const isSlow = !this.isCalm && random.chance(slowChance);
    const isLost = outage === 'loses';
    const wayMs = () => (isSlow ? random.next() * 9_000 : 1 + random.next() * 20);
    const [thereMs, backMs] = [wayMs(), wayMs()];
    if (outage !== undefined || isLost || thereMs + backMs > 4_000) {
      this.troubles.push(this.#time.now(), this.#time.now() + thereMs + backMs);
    }
    if (outage === 'refuses') {
      return this.#time.sleep(1).then(() => {
        throw new Error('the store is gone');
      });
    }
    return new Promise<T>((resolve, reject) => {
      this.#time.after(thereMs, () => {
        // A request that left before its process died may arrive or not.
        if ((asker.isDead || outage === 'hangs') && random.chance(0.5)) {
          return;
        }
        const result = work();
        asker.moment('the store has done it');
        this.#time.after(backMs, () => {
          asker.moment('the store answers');
          if (asker.isDead || outage === 'hangs') {
            return;
          }
          if (isLost) {
            reject(new Error('the answer is lost'));
          } else {
            resolve(result);
          }
        });
      });
    });
  }

  #outage(): StoreHabits['outage'] | undefined {
    const now = this.#time.now();
    const { outages, outage, faultChance } = this.#habits;
    if (this.isCalm) {
      return undefined;
    }
    if (outages.some(({ from, to }) => now >= from && now < to)) {
      return outage;
    }
    return this.#random.chance(faultChance) ? this.#random.pick(['refuses', 'loses']) : undefined;
  }
}

/** A promise of a process that has died. */
export function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
