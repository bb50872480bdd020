const WINDOW_MS = 60_000;
/** Callers that are told apart at one time; those beyond share one allowance. */
const MAX_CALLERS = 10_000;
/** A name is only compared: what is longer is cut. */
const MAX_NAME = 200;

/** Counts the events of each caller. A minute begins with the first event after a quiet minute. */
export class Callers {
  readonly #limit: number;
  /** In the order in which their minutes began. */
  readonly #minutes = new Map<string, { readonly endsAt: number; count: number }>();

  constructor(perCaller: number) {
    this.#limit = Math.max(1, Math.floor(perCaller));
  }

  /** Milliseconds until a caller may send one more event; 0 counts it. */
  take(caller: string | undefined): number {
    const now = Date.now();
    this.#forgetEnded(now);
    const name = this.#nameOf(caller);
    const minute = this.#minutes.get(name) ?? { endsAt: now + WINDOW_MS, count: 0 };
    this.#minutes.set(name, minute);
    if (minute.count >= this.#limit) {
      return minute.endsAt - now;
    }
    minute.count++;
    return 0;
  }

  #nameOf(caller: string | undefined): string {
    const name = `=${(caller ?? '').slice(0, MAX_NAME)}`;
    return this.#minutes.has(name) || this.#minutes.size < MAX_CALLERS ? name : 'others';
  }

  #forgetEnded(now: number): void {
    for (const [name, { endsAt }] of this.#minutes) {
      // A minute that ends later than a minute from now was begun by a clock that was set back.
      if (endsAt > now && endsAt <= now + WINDOW_MS) {
        return;
      }
      this.#minutes.delete(name);
    }
  }
}
