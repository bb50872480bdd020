import { maxDelayMs } from '../async.js';
import type { PostreelError } from '../errors.js';

/** How long to wait after this failure, in milliseconds. After a 429 that names no time, one window. */
export function pauseMs(failure: PostreelError, attempt: number, windowMs: number): number {
  return failure.status === 429
    ? pauseAfterRefusalMs(failure.retryAfterMs ?? windowMs, attempt)
    : (failure.retryAfterMs ?? 0);
}

/**
 * The longest pause that a call waits out when the service asks for one, in milliseconds. A longer
 * pause rejects the call with `retryAfterMs`. Two windows are enough for a 429 without a time, and for several
 * 429s in a row.
 */
export function maxPauseMs(windowMs: number): number {
  return Math.max(2 * windowMs, 60_000);
}

/**
 * How long to send nothing after a 429, in milliseconds: as long as the service asks, and at least 0.25 s,
 * 0.5 s, 1 s … up to a minute, because a service may answer "now" and then refuse again.
 */
export function pauseAfterRefusalMs(askedMs: number, attempt: number): number {
  return Math.max(askedMs, Math.min(60_000, 250 * 2 ** (attempt - 1)));
}

/**
 * How long the service asks to wait, in milliseconds, and never longer than a timer can run. Reads
 * `Retry-After`; after a 429 also the reset headers, which are part of every response. `undefined` if there
 * is no such header, or none that can be read.
 */
export function retryAfterMs(
  headers: Headers,
  status: number,
  nowMs: number = Date.now(),
): number | undefined {
  const names = ['retry-after', ...(status === 429 ? resetHeaders : [])];
  // The service gives a point in time by its own clock. The header `Date` has the current time of that clock;
  // the local clock may be hours off.
  const sentAt = dateIn(headers.get('date') ?? '') ?? nowMs;
  const delays = names.map((name) => delayIn(headers.get(name)?.trim() ?? '', sentAt));
  const delayMs = delays.find((delay) => delay !== undefined);
  return delayMs === undefined ? undefined : Math.min(Math.max(0, delayMs), maxDelayMs);
}

const resetHeaders = ['ratelimit-reset', 'x-ratelimit-reset'];

// Reads `7`, `7.5`, a point in time in seconds or milliseconds since 1970, or a date.
function delayIn(text: string, sentAt: number): number | undefined {
  if (!/^\d+(\.\d+)?$/.test(text)) {
    const date = dateIn(text);
    return date === undefined ? undefined : date - sentAt;
  }
  const value = Number(text);
  // Services disagree whether a reset is a delay or a point in time. The size of the number tells them
  // apart.
  if (value > 1e11) {
    return value - sentAt;
  }
  return value > 1e9 ? value * 1000 - sentAt : value * 1000;
}

// The three forms of RFC 9110, and ISO 8601 with a zone. `Date.parse` alone reads "after 60" as a year.
const dateForms = [
  /^[a-z]{3}, \d{1,2} [a-z]{3} \d{4} \d\d:\d\d:\d\d (gmt|utc)$/i,
  /^[a-z]{6,9}, \d\d-[a-z]{3}-\d\d \d\d:\d\d:\d\d gmt$/i,
  /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i,
  /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$/i,
];

function dateIn(text: string): number | undefined {
  if (!dateForms.some((form) => form.test(text))) {
    return undefined;
  }
  // The third form has no zone, and is in GMT.
  const date = Date.parse(/\d{4}$/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(date) ? undefined : date;
}
