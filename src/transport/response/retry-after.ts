import { maxDelayMs } from '../../async/timers.js';

const firstPauseMs = 250;
const maxGrownPauseMs = 60_000;

/**
 * How long nothing is sent after a 429: what the service asks for, and at least 0.25 s, 0.5 s, 1 s … up
 * to a minute, since a service may answer "now" and refuse again.
 */
export function pauseAfterRefusalMs(askedMs: number, attempt: number): number {
  return Math.max(askedMs, Math.min(maxGrownPauseMs, firstPauseMs * 2 ** (attempt - 1)));
}

/**
 * How long the service asks to wait, in milliseconds, and never longer than a timer lasts:
 * `Retry-After-Ms` or `Retry-After`, after a 429 also `RateLimit` or one of the reset headers, which
 * come with every answer. `undefined` when there is none, or none that can be read.
 */
export function retryAfterMs(
  headers: Headers,
  status: number,
  nowMs: number = Date.now(),
): number | undefined {
  // A point in time is by the service's clock, and so is `Date`: ours may be hours off.
  const sentAt = dateIn(headers.get('date') ?? '') ?? nowMs;
  const readers = status === 429 ? [...announcements, ...resets] : announcements;
  for (const [name, read] of readers) {
    const delayMs = read(headers.get(name)?.trim() ?? '', sentAt);
    if (delayMs !== undefined) {
      return Math.min(Math.max(0, delayMs), maxDelayMs);
    }
  }
  return undefined;
}

/** Reads one header of an answer that was sent at that time. */
type Reader = (text: string, sentAt: number) => number | undefined;

const announcements: readonly (readonly [string, Reader])[] = [
  ['retry-after-ms', numberIn],
  ['retry-after', delayIn],
];
const resets: readonly (readonly [string, Reader])[] = [
  ['ratelimit', rateLimitIn],
  ['ratelimit-reset', delayIn],
  ['x-ratelimit-reset', delayIn],
];

// `7`, `7.5`, `7s`, `7 seconds`, a point in time in seconds or milliseconds since 1970, or a date.
function delayIn(text: string, sentAt: number): number | undefined {
  const value = numberIn(text.replace(/(?<=\d) ?(s|secs?|seconds?)$/i, ''));
  if (value === undefined) {
    const date = dateIn(text);
    return date === undefined ? undefined : date - sentAt;
  }
  // Services disagree whether a reset is a delay or a point in time; the size tells them apart.
  if (value > 1e11) {
    return value - sentAt;
  }
  return value > 1e9 ? value * 1000 - sentAt : value * 1000;
}

/**
 * The two forms of the `RateLimit` drafts: `limit=10, remaining=0, reset=7` up to the seventh, since
 * then a list of quotas, `"default";r=0;t=7`. With several the last that opens again decides.
 */
function rateLimitIn(text: string): number | undefined {
  const reset = /(?:^|[,;])\s*reset=(\d+)\s*(?:[,;]|$)/.exec(text)?.[1];
  if (reset !== undefined) {
    return Number(reset) * 1000;
  }
  const used = text
    .split(',')
    .filter((quota) => parameter(quota, 'r') === 0)
    .flatMap((quota) => parameter(quota, 't') ?? []);
  return used.length > 0 ? Math.max(...used) * 1000 : undefined;
}

function parameter(quota: string, name: 'r' | 't'): number | undefined {
  return numberIn(new RegExp(`;\\s*${name}=(\\d+)\\s*(?:;|$)`).exec(quota)?.[1] ?? '');
}

function numberIn(text: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

// The three forms of RFC 9110, and ISO 8601 with a zone. `Date.parse` alone makes "after 60" a year.
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
  // The third form has no zone, and means GMT.
  const date = Date.parse(/\d{4}$/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(date) ? undefined : date;
}
