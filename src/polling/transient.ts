import {
  ConnectionError,
  isPostreelError,
  RateLimitError,
  TimeoutError,
  type PostreelError,
} from '../errors/index.js';

const longestMs = 60_000;
const passing = [ConnectionError, TimeoutError, RateLimitError];

/**
 * How long to wait after a look that failed in a way that may pass: no connection, no time, no room
 * in the rate limit, 408, 429, 5xx, an answer that is not JSON. `undefined` for everything that stays, such as 401, 403 and 404.
 */
export function passingDelayMs(
  error: unknown,
  failures: number,
  intervalMs: number,
): number | undefined {
  if (!isPostreelError(error) || !isPassing(error)) return undefined;
  const backoffMs = Math.min(longestMs, intervalMs * 2 ** Math.min(failures - 1, 10));
  return Math.max(error.retryAfterMs ?? 0, backoffMs);
}

function isPassing(error: PostreelError): boolean {
  const { status, code } = error;
  // A gateway or the page of a hotel stands in for the service.
  if (code === 'UNEXPECTED_RESPONSE' && status !== undefined && status < 300) return true;
  if (status !== undefined) return status === 408 || status === 429 || status >= 500;
  return passing.some((ErrorClass) => error instanceof ErrorClass);
}
