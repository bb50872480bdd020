import { isAbortOf } from '../../async/abort.js';
import { isPostreelError } from '../../errors/index.js';
import type { CallContext, RawAnswer, TransportParts } from '../context.js';
import { mayRetry } from './retry-policy.js';
import type { Sender } from './sender.js';

/** Sends a call until it has an answer or must not be sent again. */
export async function sendWithRetries(
  call: CallContext,
  sender: Sender,
  parts: TransportParts,
): Promise<RawAnswer> {
  try {
    return await sender.send(1);
  } catch (failure) {
    if (!isWorthAnother(failure, call)) {
      throw failure;
    }
    const { Retries } = await loadRetries(failure);
    return new Retries(call, sender, parts).goOn(failure);
  }
}

function isWorthAnother(failure: unknown, call: CallContext): boolean {
  const isOurs = isPostreelError(failure) && !isAbortOf(call.signal, failure);
  return isOurs && call.retries > 0 && mayRetry(failure, call);
}

// Most calls need no retry, so what makes them is loaded after a first failure. Where it cannot be
// loaded, e.g. in a page that has lost its network, the call ends with the failure that it had.
async function loadRetries(failure: unknown) {
  try {
    return await import('./retries.js');
  } catch {
    throw failure;
  }
}
