import { isPostreelError, type PostreelError } from '../errors/index.js';
import { isTransient } from '../errors/transient.js';

const maxMs = 60_000;

/**
 * How long to wait after a status check that failed but may succeed later. `undefined` for
 * failures that stay, such as 401, 403 and 404.
 */
export function passingDelayMs(
  error: unknown,
  failures: number,
  intervalMs: number,
): number | undefined {
  if (!isPostreelError(error) || !mayPass(error)) {
    return undefined;
  }
  const backoffMs = Math.min(maxMs, intervalMs * 2 ** Math.min(failures - 1, 10));
  return Math.max(error.retryAfterMs ?? 0, backoffMs);
}

function mayPass(error: PostreelError): boolean {
  const { status, code } = error;
  // A gateway or a captive portal answers in place of the service.
  if (code === 'UNEXPECTED_RESPONSE' && status !== undefined && status < 300) {
    return true;
  }
  return isTransient(error) || code === 'QUEUE_TIMEOUT';
}
