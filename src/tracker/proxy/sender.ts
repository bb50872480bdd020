import { Budget } from './budget.js';
import { type Answer, forward } from './forward.js';
import type { ProxiedEvent, TrackProxyOptions } from './options.js';
import type { Incoming } from './read.js';

/** How many event ids are remembered, so that a repeated event is not sent again. */
const REMEMBERED = 10_000;

/** Sends each event once, within the proxy's share of the rate limit. */
export class Sender {
  readonly #options: TrackProxyOptions;
  readonly #budget: Budget;
  readonly #known = new Map<string, Promise<Answer>>();

  constructor(options: TrackProxyOptions) {
    this.#options = options;
    this.#budget = new Budget(options.share ?? 0.5);
  }

  async send({ id, event }: Incoming, signal: AbortSignal): Promise<Answer> {
    if (id === undefined) {
      return this.#send(event, signal);
    }
    const sending = this.#known.get(id) ?? this.#send(event, signal);
    this.#known.set(id, sending);
    this.#forgetOldest();
    const answer = await sending;
    // What the service did not take may come again.
    if (answer.status !== 200) {
      this.#known.delete(id);
    }
    return answer;
  }

  async #send(event: ProxiedEvent, signal: AbortSignal): Promise<Answer> {
    const waitMs = this.#budget.take();
    if (waitMs) {
      return { status: 429, retryAfter: String(Math.ceil(waitMs / 1000)) };
    }
    const answer = await forward(event, this.#options, signal);
    this.#budget.answered();
    if (answer.status === 429) {
      this.#budget.close(answer.retryAfter);
    }
    return answer;
  }

  #forgetOldest(): void {
    // A Map keeps the order of insertion.
    const [oldest] = this.#known.keys();
    if (this.#known.size > REMEMBERED && oldest !== undefined) {
      this.#known.delete(oldest);
    }
  }
}
