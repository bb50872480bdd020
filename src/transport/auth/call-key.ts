import { AttemptTimer } from '../../async/timers.js';
import { isPostreelError } from '../../errors/index.js';
import type { CallContext, TransportParts } from '../context.js';
import { withinDeadline } from '../deadline.js';
import { keyUnavailable } from './api-key.js';

/** The key of one call. */
export class CallKey {
  readonly #call: CallContext;
  readonly #parts: TransportParts;
  #value: string | null;
  #mayRenew: boolean;

  private constructor(value: string | null, call: CallContext, parts: TransportParts) {
    this.#value = value;
    this.#call = call;
    this.#parts = parts;
    this.#mayRenew = value !== null;
  }

  /** The key that the client has, or the one that its function fetches within the call's deadline. */
  static async of(call: CallContext, parts: TransportParts): Promise<CallKey> {
    const key = parts.keyring.keyFor(call.route, parts.session);
    if (!(key instanceof Promise)) {
      return new CallKey(key, call, parts);
    }
    const fetched = await askedInTime(key, call, parts);
    call.signal?.throwIfAborted();
    return new CallKey(fetched, call, parts);
  }

  get value(): string | null {
    return this.#value;
  }

  /**
   * Is there another key after this failure? A refused call did not happen: it may be sent again, once.
   * The same key again would be refused again.
   */
  async isRenewedAfter(failure: unknown): Promise<boolean> {
    const { keyring } = this.#parts;
    const isRefused = isPostreelError(failure) && failure.status === 401;
    if (!isRefused || !this.#mayRenew || !keyring.canRenew(this.#value)) {
      return false;
    }
    this.#mayRenew = false;
    const refused = this.#value;
    this.#value = await this.#renew();
    return this.#value !== refused;
  }

  // Without another key it stays at the refusal that came: the service did see the call.
  async #renew(): Promise<string | null> {
    const { keyring, session } = this.#parts;
    try {
      const key = await askedInTime(keyring.renew(this.#value), this.#call, this.#parts);
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

// A question that takes as long as a call may is asked anew by the next call, not waited for again.
async function askedInTime(
  key: Promise<string | null>,
  call: CallContext,
  { keyring }: TransportParts,
): Promise<string | null> {
  const { timeoutMs } = call;
  const timer = new AttemptTimer(timeoutMs, undefined);
  try {
    return await withinDeadline(timer.within(key), call);
  } catch (failure) {
    if (!timer.timedOut) {
      throw failure;
    }
    keyring.forgetQuestion();
    throw keyUnavailable(new Error(`No answer within ${timeoutMs} ms.`));
  } finally {
    timer.stop();
  }
}
