/** Something that happens later. */
export type Task = () => void | Promise<void>;

/**
 * `task`: something in the service. `pause` and `limit`: a client waits, or limits something that runs.
 * `goal`: where `advance()` goes, after all else that is due by then.
 */
export type Kind = 'task' | 'pause' | 'limit' | 'goal';

/** Something that happens at a time. */
export interface Entry {
  readonly due: number;
  readonly kind: Kind;
  readonly task: Task;
  /** A limit is not passed before this time of the process. */
  readonly patientUntil?: number;
}

/** What will happen, in the order of its time; at the same time, in the order it was added. */
export class Schedule {
  readonly #entries: Entry[] = [];
  readonly #counts = { task: 0, pause: 0, limit: 0, goal: 0 };

  /** Adds an entry; the answer takes it back. */
  add(entry: Entry): () => void {
    this.#entries.splice(this.#placeFor(entry), 0, entry);
    this.#counts[entry.kind]++;
    return () => {
      const index = this.#entries.indexOf(entry);
      if (index >= 0) {
        this.#entries.splice(index, 1);
        this.#counts[entry.kind]--;
      }
    };
  }

  has(kind: Kind): boolean {
    return this.#counts[kind] > 0;
  }

  /** The first entry. */
  next(): Entry | undefined {
    return this.#entries[0];
  }

  /** The first entry of a client. */
  nextOfClients(): Entry | undefined {
    return this.#entries.find(({ kind }) => kind === 'pause' || kind === 'limit');
  }

  /** Takes out the first entry, which is there. */
  take(): Entry {
    const entry = this.#entries.shift() as Entry; // the caller has seen it
    this.#counts[entry.kind]--;
    return entry;
  }

  // Behind all that is due no later, but before a goal of the same time.
  #placeFor({ due, kind }: Entry): number {
    const isAfter = (other: Entry) =>
      due > other.due || (due === other.due && (kind === 'goal' || other.kind !== 'goal'));
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#entries[middle];
      if (other !== undefined && isAfter(other)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
