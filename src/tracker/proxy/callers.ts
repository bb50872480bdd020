const WINDOW_MS = 60_000;
/** The maximum number of callers counted separately at one time; further callers share one limit. */
const MAX_CALLERS = 10_000;
/** The maximum length of a caller's name; names are only compared, so longer ones are cut. */
const MAX_NAME = 200;

/** Counts the events of each caller. A minute begins with the first event after a quiet minute. */
export class Callers {
  readonly #limit: number;
  /** The minutes of the callers, in the order of their start. */
  readonly #minutes = new Map<string, { readonly endsAt: number; count: number }>();

  constructor(perCaller: number) {
    this.#limit = Math.max(1, Math.floor(perCaller));
  }

  /** Milliseconds until a caller may send another event; 0 counts the event. */
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
      // Ignore a minute that ends more than a minute from now: the clock was set back since it began.
      if (endsAt > now && endsAt <= now + WINDOW_MS) {
        return;
      }
      this.#minutes.delete(name);
    }
  }
}
