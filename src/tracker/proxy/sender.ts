import { systemClock } from '../../core/async.js';
import { pauseAfterRefusalMs } from '../../core/call/retry-after.js';
import { createBudget } from '../../core/limit/polled-budget.js';
import type { LocalBudget } from '../../core/limit/rate-limit.js';
import { type ProxyAnswer, forward } from './forward.js';
import type { ProxiedEvent, TrackProxyOptions } from './options.js';
import type { IncomingEvent } from './read.js';

/** The maximum number of remembered ids, each for sent events and for ambiguous ones. */
const MAX_REMEMBERED = 10_000;
const WINDOW_MS = 60_000;
/** The longest pause after a 429: a wrong clock or value of the service must not block the proxy. */
const MAX_PAUSE_MS = 300_000;

/** Sends each id once, within the proxy's share of the rate limit. */
export class Sender {
  readonly #options: TrackProxyOptions;
  readonly #budget: LocalBudget;
  readonly #sending = new Map<string, Promise<ProxyAnswer>>();
  readonly #taken = new Map<string, ProxyAnswer>();
  /** Kept apart from the sent ids, so that a flood of events cannot evict an ambiguous one. */
  readonly #ambiguous = new Map<string, ProxyAnswer>();

  constructor(options: TrackProxyOptions) {
    const limits = { limit: options.perMinute ?? 500, windowMs: WINDOW_MS, headroom: 0 };
    this.#options = options;
    this.#budget = createBudget(limits, systemClock);
  }

  async send({ id, event }: IncomingEvent): Promise<ProxyAnswer> {
    if (id === undefined) {
      return this.#send(event);
    }
    const known = this.#taken.get(id) ?? this.#ambiguous.get(id) ?? this.#sending.get(id);
    if (known) {
      return known;
    }
    const sending = this.#send(event);
    this.#sending.set(id, sending);
    const answer = await sending;
    this.#sending.delete(id);
    if (answer.status === 200) {
      remember(this.#taken, id, answer);
    } else if (isAmbiguous(answer)) {
      remember(this.#ambiguous, id, answer);
    }
    return answer;
  }

  // The budget never queues an event: the page waits instead.
  async #send(event: ProxiedEvent): Promise<ProxyAnswer> {
    const slot = this.#budget.tryAcquire();
    if (!slot) {
      return this.#tooMany();
    }
    const answer = await forward(event, this.#options);
    if (answer.status === 429) {
      const askedMs = pauseAfterRefusalMs(answer.retryAfterMs ?? WINDOW_MS, 1);
      this.#budget.pause(Math.min(askedMs, MAX_PAUSE_MS));
    }
    if (isAmbiguous(answer)) {
      slot.abandon();
    } else {
      slot.release();
    }
    return answer.status === 429 ? this.#tooMany() : answer;
  }

  #tooMany(): ProxyAnswer {
    return { status: 429, retryAfterMs: this.#budget.forecast(0).waitMs };
  }
}

/** May the service have taken the event? */
const isAmbiguous = ({ status }: ProxyAnswer): boolean => status === 502 || status === 504;

function remember(answers: Map<string, ProxyAnswer>, id: string, answer: ProxyAnswer): void {
  answers.set(id, answer);
  // A Map keeps the order of insertion.
  const [oldest] = answers.keys();
  if (answers.size > MAX_REMEMBERED && oldest !== undefined) {
    answers.delete(oldest);
  }
}
