import type { PostreelError } from './base-error.js';

const transientCodes = new Set(['CONNECTION_LOST', 'TIMEOUT', 'NOT_CONNECTED']);

/**
 * May the same request succeed a little later? Yes for a lost or refused connection, a timeout,
 * 408, 429 and 5xx; every other answer stays as it is.
 */
export function isTransient({ status, code }: PostreelError): boolean {
  if (status === undefined) {
    return transientCodes.has(code);
  }
  return status === 408 || status === 429 || status >= 500;
}
