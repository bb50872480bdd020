import type { AcknowledgingSource, SourceItem } from 'postreel';

/** A job engine in memory: what a worker does not end within its lease is handed out again. */
export class LeasedList {
  readonly #waiting: SourceItem[];
  readonly #leaseMs: number;
  readonly #taken = new Map<SourceItem, number>();

  constructor(items: readonly SourceItem[], leaseMs: number) {
    this.#waiting = [...items];
    this.#leaseMs = leaseMs;
  }

  /** The source of one worker; when the worker is dead, it hears nothing more of it. */
  open(death: AbortSignal): AcknowledgingSource {
    const alive = (act: () => void) => {
      if (!death.aborted) {
        act();
      }
      return Promise.resolve();
    };
    return {
      take: (count) => Promise.resolve(death.aborted ? [] : this.#take(count)),
      done: (item) => alive(() => this.#taken.delete(item)),
      fail: (item) =>
        alive(() => {
          this.#taken.delete(item);
          this.#waiting.unshift(item);
        }),
      extend: (item) => alive(() => this.#taken.set(item, Date.now() + this.#leaseMs)),
    };
  }

  #take(count: number): SourceItem[] {
    const now = Date.now();
    for (const [item, until] of this.#taken) {
      if (until <= now) {
        this.#taken.delete(item);
        this.#waiting.unshift(item);
      }
    }
    const items = this.#waiting.splice(0, count);
    items.forEach((item) => this.#taken.set(item, now + this.#leaseMs));
    return items;
  }
}
