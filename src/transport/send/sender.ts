import { isPostreelError } from '../../errors/index.js';
import type { CallContext, RawAnswer, TransportParts } from '../context.js';
import { withinDeadline } from '../deadline.js';
import { attempt } from './attempt.js';

/** Sends the attempts of one call with the client's key; a refused key is renewed once. */
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

  async send(number: number): Promise<RawAnswer> {
    try {
      return await attempt({ number, key: this.#key }, this.#call, this.#parts);
    } catch (failure) {
      if (!this.#isRefusedKey(failure)) {
        throw failure;
      }
    }
    // A refused call did not happen: with another key it may be sent again, once.
    this.#mayRenew = false;
    this.#key = await this.#renew();
    return attempt({ number, key: this.#key }, this.#call, this.#parts);
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
