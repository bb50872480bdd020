import type { RequestOptions } from '../../core/types.js';
import { isPostreelError } from '../../core/errors.js';
import { rowsUntilAborted, type RowSource } from '../shared/row-source.js';
import type { AddressVerification, VerifiedAddress, VerifyRequest } from './types.js';

// Enough to fill the rate limit; the limit itself decides how many are sent at once.
const maxUnderWay = 20;

/**
 * Checks any number of addresses, several at a time, and yields the results in order. An abort, a
 * refused key and a source that throws end it, after the results of the checks under way.
 */
export async function* verifyAll(
  emails: RowSource<string>,
  verify: (body: VerifyRequest) => PromiseLike<AddressVerification>,
  { signal }: RequestOptions = {},
): AsyncGenerator<VerifiedAddress, void, undefined> {
  const underWay: Promise<VerifiedAddress>[] = [];
  let end: { readonly cause: unknown } | undefined;
  try {
    for await (const email of rowsUntilAborted(emails, signal)) {
      signal?.throwIfAborted();
      underWay.push(verified(email, verify));
      const first = underWay.length < maxUnderWay ? undefined : underWay.shift();
      if (first) {
        const result = await first;
        yield result;
        throwIfHopeless(result, signal);
      }
    }
  } catch (cause) {
    end = { cause };
  }
  for (const check of underWay) {
    const result = await check;
    yield result;
    end ??= endOf(result);
  }
  signal?.throwIfAborted();
  if (end) {
    throw end.cause;
  }
}

async function verified(
  email: string,
  verify: (body: VerifyRequest) => PromiseLike<AddressVerification>,
): Promise<VerifiedAddress> {
  try {
    return { email, verification: await verify({ email }), error: undefined };
  } catch (error) {
    return { email, verification: undefined, error };
  }
}

function throwIfHopeless(result: VerifiedAddress, signal: AbortSignal | undefined): void {
  signal?.throwIfAborted();
  const end = endOf(result);
  if (end) {
    throw end.cause;
  }
}

// A key that is refused for one address is refused for all.
function endOf({ error }: VerifiedAddress): { readonly cause: unknown } | undefined {
  const isKeyRefused = isPostreelError(error) && (error.status === 401 || error.status === 403);
  return isKeyRefused ? { cause: error } : undefined;
}
