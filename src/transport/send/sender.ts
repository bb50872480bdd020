import { isAbortOf } from '../../async/abort.js';
import { isPostreelError } from '../../errors/index.js';
import type { CallContext, RawAnswer, TransportParts } from '../context.js';
import { withinDeadline } from '../deadline.js';
import { attempt } from './attempt.js';
import type { RequestCarrier } from './http.js';
import { Retries } from './retry.js';
import { mayRetry } from './retry-policy.js';

/** Sends one call with the client's key; a refused key is renewed once. */
export class Sender {
  readonly #call: CallContext;
  readonly #parts: TransportParts;
  #key: string | null;
  #mayRenew: boolean;

  constructor(call: CallContext, key: string | null, parts: TransportParts) {
    this.#call = call;
    this.#parts = parts;
    this.#key = key;
    this.#mayRenew = key !== null;
  }

  /** Sends the call until it has an answer or must not be sent again. */
  async send(): Promise<RawAnswer> {
    try {
      return await this.#attempt(1);
    } catch (failure) {
      if (!this.#isWorthAnother(failure)) {
        throw failure;
      }
      const again = (number: number, carrier: RequestCarrier) => this.#attempt(number, carrier);
      return new Retries(this.#call, again, this.#parts).goOn(failure);
    }
  }

  #isWorthAnother(failure: unknown): boolean {
    const { signal, retries } = this.#call;
    const isOurs = isPostreelError(failure) && !isAbortOf(signal, failure);
    return isOurs && retries > 0 && mayRetry(failure, this.#call);
  }

  async #attempt(number: number, carrier?: RequestCarrier): Promise<RawAnswer> {
    try {
      return await attempt({ number, key: this.#key, carrier }, this.#call, this.#parts);
    } catch (failure) {
      if (!this.#isRefusedKey(failure)) {
        throw failure;
      }
    }
    // A refused call did not happen: with another key it may be sent again, once.
    this.#mayRenew = false;
    this.#key = await this.#renew();
    return attempt({ number, key: this.#key, carrier }, this.#call, this.#parts);
  }

  #isRefusedKey(failure: unknown): boolean {
    const isRefused = isPostreelError(failure) && failure.status === 401;
    return isRefused && this.#mayRenew && this.#parts.keyring.canRenew(this.#key);
  }

  // Without another key it stays at the refusal that came: the service did see the call.
  async #renew(): Promise<string | null> {
    const { keyring, session } = this.#parts;
    try {
      const key = await withinDeadline(keyring.renew(this.#key), this.#call);
      keyring.authorize(this.#call.route, key, session);
      return key;
    } catch (failure) {
      if (isPostreelError(failure)) {
        Object.assign(failure, { outcome: 'rejected' });
      }
      throw failure;
    }
  }
}
