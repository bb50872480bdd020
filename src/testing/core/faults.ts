import {
  anything,
  atLeast,
  flag,
  plainObject,
  readOptions,
  wholeNumber,
  type OptionKinds,
} from '../../core/options.js';
import { findSimilar } from '../../core/typos.js';

/** A fault of a request: set one of the kinds, and when it applies. */
export interface Fault {
  /** Responds with this status before the service sees the request. */
  status?: number;
  /**
   * The body of the `status` response: an object is sent as JSON, a string unchanged. @default the error body of
   * the documents for this status; none for a status that they do not name
   */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** The `Retry-After` of the `status` response: seconds, or a date as a string. */
  retryAfter?: number | string;
  /** The connection closes before the service sees the request. */
  drop?: boolean;
  /** The request takes effect, then the connection closes without a response. */
  loseAnswer?: boolean;
  /** The request has no effect and gets no response until the caller gives up. */
  hang?: boolean;
  /** The delay of the response in milliseconds; can be combined with the other kinds. */
  slow?: number;
  /** The request takes effect; half of the response arrives, then the connection breaks. */
  truncate?: boolean;
  /** The request takes effect; half of the response arrives, then nothing until the caller gives up. */
  stall?: boolean;
  /** The request takes effect; the response is broken JSON. */
  malformed?: boolean;
  /** A gateway's HTML page, with status 502 unless `status` says otherwise. */
  html?: boolean;
  /** Number of requests that the fault applies to. @default 1 */
  times?: number;
  /** Number of requests that pass before the fault applies. @default 0 */
  after?: number;
  /** The probability that the fault applies to a request, 0 to 1. @default 1 */
  probability?: number;
}

const faultKinds: OptionKinds<Fault> = {
  status: wholeNumber(100, 599),
  body: anything(),
  headers: plainObject('an object of headers'),
  retryAfter: {
    form: 'a number of seconds, or a text',
    allows: (value) => typeof value === 'string' || Number.isFinite(value),
  },
  drop: flag,
  loseAnswer: flag,
  hang: flag,
  slow: atLeast(0),
  truncate: flag,
  stall: flag,
  malformed: flag,
  html: flag,
  times: atLeast(0),
  after: atLeast(0),
  probability: {
    form: 'a chance from 0 to 1',
    allows: (value) => typeof value === 'number' && value >= 0 && value <= 1,
  },
};

/** The planned faults. */
export interface Faults {
  /**
   * Plans a fault for an endpoint (`'POST /v1/send'`, or `'*'` for each); returns the function that removes
   * it.
   */
  fail(endpoint: string, fault: Fault): () => void;
  /** The fault that applies to this request, if any. */
  take(endpoint: string): Fault | undefined;
  /** Removes all planned faults. */
  clear(): void;
}

interface Planned {
  readonly endpoint: string;
  readonly fault: Fault;
  seen: number;
  left: number;
}

export function createFaults(endpoints: readonly string[], random: () => number): Faults {
  let plans: Planned[] = [];

  function fail(endpoint: string, given: Fault): () => void {
    const fault = readOptions(given, faultKinds, { name: '`fail()`', example: '{ status: 503 }' });
    if (endpoint !== '*' && !endpoints.includes(endpoint)) {
      throw new TypeError(`No such endpoint: ${endpoint}. ${adviceFor(endpoint, endpoints)}`);
    }
    const plan = { endpoint, fault, seen: 0, left: fault.times ?? 1 };
    plans.push(plan);
    return () => {
      plans = plans.filter((other) => other !== plan);
    };
  }

  function take(endpoint: string): Fault | undefined {
    if (plans.length === 0) {
      return undefined;
    }
    const struck = plans
      .filter((plan) => plan.endpoint === '*' || plan.endpoint === endpoint)
      .filter((plan) => {
        plan.seen += 1;
        return plan.seen > (plan.fault.after ?? 0) && plan.left > 0;
      })
      .find(({ fault }) => fault.probability === undefined || random() < fault.probability);
    if (struck === undefined) {
      return undefined;
    }
    struck.left -= 1;
    return struck.fault;
  }

  return {
    fail,
    take,
    clear: () => {
      plans = [];
    },
  };
}

const maxCandidates = 5;

/** Suggests the endpoints that are most similar to the written one. */
function adviceFor(written: string, endpoints: readonly string[]): string {
  const wanted = wordsOf(written);
  const likeness = (endpoint: string) =>
    wordsOf(endpoint).filter((word) => wanted.some((other) => isLike(word, other))).length * 10 -
    wordsOf(endpoint).length;
  const typo = findSimilar(written, endpoints);
  if (typo !== undefined) {
    return `Did you mean '${typo}'?`;
  }
  const candidates = endpoints
    .filter((endpoint) => wordsOf(endpoint).some((word) => isLike(word, wanted.at(-1) ?? '')))
    .sort((a, b) => likeness(b) - likeness(a))
    .slice(0, maxCandidates)
    .map((endpoint) => `'${endpoint}'`);
  return candidates.length > 0
    ? `Did you mean ${candidates.join(', ')}?`
    : "Use an endpoint of the service's document, such as 'POST /v1/send', or '*'.";
}

function wordsOf(endpoint: string): string[] {
  return endpoint.toLowerCase().match(/[a-z]+/g) ?? [];
}

// True for similar words, such as `contact` and `contacts`.
function isLike(word: string, other: string): boolean {
  return word.startsWith(other) || other.startsWith(word);
}
