import { ConnectionError, isPostreelError, TimeoutError } from '../errors/index.js';

const longestMs = 60_000;

/**
 * How long to wait after a look that failed in a way that may pass: no connection, no time, 408,
 * 429, 5xx. `undefined` for everything that stays, such as 401, 403 and 404.
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

function isPassing(error: { status: number | undefined }): boolean {
  const { status } = error;
  if (status !== undefined) return status === 408 || status === 429 || status >= 500;
  return error instanceof ConnectionError || error instanceof TimeoutError;
}
