const firstPauseMs = 250;
const maxGrownPauseMs = 60_000;

/**
 * How long nothing is sent after a 429: what the service asks for, and at least 0.25 s, 0.5 s, 1 s … up
 * to a minute. One that says "now" and refuses again, or whose clock is ahead, does not mean it.
 */
export function pauseAfterRefusalMs(askedMs: number, attempt: number): number {
  return Math.max(askedMs, Math.min(maxGrownPauseMs, firstPauseMs * 2 ** (attempt - 1)));
}

/**
 * How long the service asks us to wait, in milliseconds: `Retry-After` as seconds or a date, after
 * a 429 also one of the reset headers. They come with every answer, and only there they say when
 * the same call may go. `undefined` when the service does not say, or says something unreadable.
 */
export function retryAfterMs(
  headers: Headers,
  status: number,
  nowMs: number = Date.now(),
): number | undefined {
  for (const name of status === 429 ? ['retry-after', ...resetHeaders] : ['retry-after']) {
    const delayMs = delayFrom(headers.get(name) ?? '', nowMs);
    if (delayMs !== undefined) {
      return delayMs;
    }
  }
  return undefined;
}

const resetHeaders = ['ratelimit-reset', 'x-ratelimit-reset'];

function delayFrom(text: string, nowMs: number): number | undefined {
  const trimmed = text.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) {
    return delayFromNumber(Number(trimmed), nowMs);
  }
  // A date has letters in it; Date.parse would read "-5" or "2" as a year.
  const date = /[a-z]/i.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

// Services disagree whether a reset is a delay or a point in time; the size tells them apart.
function delayFromNumber(value: number, nowMs: number): number | undefined {
  // `Number('9'.repeat(400))` is Infinity.
  if (!Number.isFinite(value)) {
    return undefined;
  }
  if (value > 1e11) {
    return Math.max(0, value - nowMs);
  }
  if (value > 1e9) {
    return Math.max(0, value * 1000 - nowMs);
  }
  return value * 1000;
}
