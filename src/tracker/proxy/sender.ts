import { Budget } from './budget.js';
import { type Answer, forward } from './forward.js';
import type { ProxiedEvent, TrackProxyOptions } from './options.js';
import type { Incoming } from './read.js';

/** The maximum number of remembered ids, each for sent events and for ambiguous ones. */
const MAX_REMEMBERED = 10_000;

/** Sends each id once, within the proxy's share of the rate limit. */
export class Sender {
  readonly #options: TrackProxyOptions;
  readonly #budget: Budget;
  readonly #sending = new Map<string, Promise<Answer>>();
  readonly #taken = new Map<string, Answer>();
  /** Kept apart from the sent ids, so that a flood of events cannot evict an ambiguous one. */
  readonly #inDoubt = new Map<string, Answer>();

  constructor(options: TrackProxyOptions) {
    this.#options = options;
    this.#budget = new Budget(options.perMinute ?? 500);
  }

  async send({ id, event }: Incoming): Promise<Answer> {
    if (id === undefined) {
      return this.#send(event);
    }
    const known = this.#taken.get(id) ?? this.#inDoubt.get(id) ?? this.#sending.get(id);
    if (known) {
      return known;
    }
    const sending = this.#send(event);
    this.#sending.set(id, sending);
    const answer = await sending;
    this.#sending.delete(id);
    if (answer.status === 200) {
      remember(this.#taken, id, answer);
    } else if (answer.status === 502 || answer.status === 504) {
      remember(this.#inDoubt, id, answer);
    }
    return answer;
  }

  async #send(event: ProxiedEvent): Promise<Answer> {
    const waitMs = this.#budget.take();
    if (waitMs) {
      return tooMany(waitMs);
    }
    const answer = await forward(event, this.#options);
    this.#budget.answered();
    if (answer.status === 429) {
      this.#budget.close(answer.retryAfter);
      return tooMany(this.#budget.waitMs());
    }
    return { status: answer.status };
  }
}

/** A 429 of the proxy itself, with the time to wait in whole seconds. */
export const tooMany = (waitMs: number): Answer => ({
  status: 429,
  retryAfter: String(Math.ceil(waitMs / 1000)),
});

function remember(answers: Map<string, Answer>, id: string, answer: Answer): void {
  answers.set(id, answer);
  // A Map keeps the order of insertion.
  const [oldest] = answers.keys();
  if (answers.size > MAX_REMEMBERED && oldest !== undefined) {
    answers.delete(oldest);
  }
}
