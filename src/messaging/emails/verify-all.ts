import type { AddressVerification, VerifiedAddress, VerifyRequest } from './types.js';

// Enough to fill the rate limit; the limit itself decides how many are sent at once.
const mostUnderWay = 20;

/** Checks any number of addresses, several at a time, and yields the results in order. */
export async function* verifyAll(
  emails: Iterable<string> | AsyncIterable<string>,
  verify: (body: VerifyRequest) => PromiseLike<AddressVerification>,
): AsyncGenerator<VerifiedAddress, void, undefined> {
  const underWay: Promise<VerifiedAddress>[] = [];
  for await (const email of emails) {
    underWay.push(verified(email, verify));
    if (underWay.length >= mostUnderWay) {
      yield* next(underWay);
    }
  }
  while (underWay.length > 0) {
    yield* next(underWay);
  }
}

async function* next(underWay: Promise<VerifiedAddress>[]) {
  const first = underWay.shift();
  if (first) {
    yield await first;
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
