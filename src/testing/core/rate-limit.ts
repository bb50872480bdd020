import { atLeast, milliseconds, oneOf, type OptionKinds } from '../../core/options.js';

/** The rate limit of a service. */
export interface RateLimitOptions {
  /** Requests per window; `Infinity` for no limit. */
  limit: number;
  windowMs: number;
  /**
   * `sliding` counts the last window, `fixed` restarts with each window, `bucket` refills evenly. @default
   * 'sliding'
   */
  algorithm?: 'sliding' | 'fixed' | 'bucket';
  /** How a 429 says when to retry. @default 'retry-after' */
  headers?: 'retry-after' | 'retry-after-date' | 'ratelimit' | 'x-ratelimit' | 'none';
  /** How far ahead the clock of the service's dates is, in milliseconds. @default 0 */
  clockAheadMs?: number;
}

/** The kinds of these options. */
export const rateLimitKinds: OptionKinds<RateLimitOptions> = {
  limit: atLeast(0),
  windowMs: milliseconds,
  algorithm: oneOf('sliding', 'fixed', 'bucket'),
  headers: oneOf('retry-after', 'retry-after-date', 'ratelimit', 'x-ratelimit', 'none'),
  clockAheadMs: { form: 'a number of milliseconds', allows: Number.isFinite },
};

/** The limiter's decision about one request. */
export interface Verdict {
  readonly isAllowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Counts requests by bucket (a project, a key). */
interface RateLimiter {
  /** Counts a request, unless it is over the limit: a refused request costs nothing. */
  readonly check: (bucket: string, now: number) => Verdict;
  readonly reset: () => void;
}

interface Tally {
  readonly isAllowed: boolean;
  readonly remaining: number;
  readonly waitMs: number;
}

type Counter = (now: number) => Tally;

/**
 * Creates a rate limiter. It reads its options with each request, since a fake's settings may change; a
 * change of the algorithm resets the counts.
 */
export function createRateLimiter(optionsNow: () => RateLimitOptions): RateLimiter {
  const counters = new Map<string, Counter>();
  return {
    check(bucket, now) {
      const options = optionsNow();
      const { limit, windowMs, algorithm = 'sliding' } = options;
      if (limit === Infinity) {
        return { isAllowed: true, headers: {} };
      }
      const name = `${algorithm} ${bucket}`;
      const counter = counters.get(name) ?? counterOf[algorithm](limit, windowMs);
      counters.set(name, counter);
      const tally = counter(now);
      return { isAllowed: tally.isAllowed, headers: headersOf(options, tally, now) };
    },
    reset: () => counters.clear(),
  };
}

const counterOf = { sliding, fixed, bucket };

function sliding(limit: number, windowMs: number): Counter {
  const times: number[] = [];
  return (now) => {
    while (times[0] !== undefined && times[0] <= now - windowMs) {
      times.shift();
    }
    const isAllowed = times.length < limit;
    if (isAllowed) {
      times.push(now);
    }
    return {
      isAllowed,
      remaining: limit - times.length,
      waitMs: (times[0] ?? now) + windowMs - now,
    };
  };
}

/** Windows begin at whole multiples of their length. */
function fixed(limit: number, windowMs: number): Counter {
  let current = 0;
  let used = 0;
  return (now) => {
    const window = Math.floor(now / windowMs);
    if (window !== current) {
      used = 0;
    }
    current = window;
    const isAllowed = used < limit;
    if (isAllowed) {
      used += 1;
    }
    return { isAllowed, remaining: limit - used, waitMs: (window + 1) * windowMs - now };
  };
}

function bucket(limit: number, windowMs: number): Counter {
  let tokens = limit;
  let filledAt: number | undefined;
  return (now) => {
    tokens = Math.min(limit, tokens + ((now - (filledAt ?? now)) * limit) / windowMs);
    filledAt = now;
    const isAllowed = tokens >= 1;
    if (isAllowed) {
      tokens -= 1;
    }
    const waitMs = ((1 - Math.min(1, tokens)) * windowMs) / limit;
    return { isAllowed, remaining: Math.floor(tokens), waitMs };
  };
}

function headersOf(options: RateLimitOptions, tally: Tally, now: number): Record<string, string> {
  const { headers = 'retry-after', clockAheadMs = 0 } = options;
  const sentAt = now + clockAheadMs;
  const isTold = !tally.isAllowed || !headers.startsWith('retry-after');
  return isTold ? announced[headers](tally, options.limit, sentAt) : {};
}

type Announce = (tally: Tally, limit: number, sentAt: number) => Record<string, string>;

const announced: Readonly<Record<NonNullable<RateLimitOptions['headers']>, Announce>> = {
  'retry-after': (tally) => ({ 'Retry-After': secondsOf(tally) }),
  'retry-after-date': (tally, _, sentAt) => ({
    'Retry-After': new Date(freeAt(tally, sentAt) * 1000).toUTCString(),
  }),
  ratelimit: (tally, limit) => numbered('RateLimit', [limit, tally.remaining, secondsOf(tally)]),
  'x-ratelimit': (tally, limit, sentAt) =>
    numbered('X-RateLimit', [limit, tally.remaining, freeAt(tally, sentAt)]),
  none: () => ({}),
};

function secondsOf({ waitMs }: Tally): string {
  return String(Math.ceil(waitMs / 1000));
}

/** In seconds since 1970. */
function freeAt({ waitMs }: Tally, sentAt: number): number {
  return Math.ceil((sentAt + waitMs) / 1000);
}

function numbered(prefix: string, values: readonly (number | string)[]): Record<string, string> {
  const names = ['Limit', 'Remaining', 'Reset'];
  return Object.fromEntries(
    names.map((name, index) => [`${prefix}-${name}`, String(values[index])]),
  );
}
