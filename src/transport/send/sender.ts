import type { RequestOptions } from '../../contract/call.js';
import { isPostreelError } from '../../errors/index.js';
import { attempt, type Arrival, type Journey, type Surroundings } from './attempt.js';
import { authorize, isBrowser } from '../auth/api-key.js';
import { isAccountRoute } from '../request/build.js';
import { deliver } from './delivery.js';
import type { TransportParts } from '../context.js';
import type { Prepared } from '../request/prepare.js';
import { count } from '../settings.js';
import { inTime } from './in-time.js';

/** Puts the key on a call and sends it until it has an answer or must not be sent again. */
export class Sender {
  readonly #parts: TransportParts;

  constructor(parts: TransportParts) {
    this.#parts = parts;
  }

  async send({ journey, request }: Prepared, options: RequestOptions): Promise<Arrival> {
    const { settings } = this.#parts;
    const retries =
      options.retries === undefined ? settings.retries : count('retries', options.retries);
    const key = await inTime(this.#keyFor(journey), journey);
    options.signal?.throwIfAborted();
    const around = this.#surroundings(key);
    const { keyring } = this.#parts;
    let mayRenew = key !== null;
    const sendOnce = async (number: number): Promise<Arrival> => {
      const { headers } = request;
      const authorization = around.key === null ? {} : { authorization: `Bearer ${around.key}` };
      try {
        return await attempt(
          { ...request, headers: { ...headers, ...authorization } },
          number,
          journey,
          around,
        );
      } catch (failure) {
        const isRefused = isPostreelError(failure) && failure.status === 401;
        if (!isRefused || !mayRenew || !keyring.canRenew(around.key)) {
          throw failure;
        }
        // A refused call did not happen: with another key it may be sent again, once.
        mayRenew = false;
        around.key = await this.#renew(around.key, journey);
        return sendOnce(number);
      }
    };
    const arrival = await deliver(sendOnce, journey, around, { retries, options });
    if (isAccountRoute(journey.route)) {
      this.#keepSession(journey, arrival.response);
    }
    return arrival;
  }

  async #keyFor({ route }: Journey): Promise<string | null> {
    if (route.key === 'none') {
      return null;
    }
    const { keyring } = this.#parts;
    const key = keyring.current === undefined ? await keyring.key() : keyring.current;
    authorize(route, key, this.#standing());
    return key;
  }

  // Without another key it stays at the refusal that came: the service did see the call.
  async #renew(refused: string | null, journey: Journey): Promise<string | null> {
    try {
      const key = await inTime(this.#parts.keyring.renew(refused), journey);
      authorize(journey.route, key, this.#standing());
      return key;
    } catch (failure) {
      if (isPostreelError(failure)) {
        Object.assign(failure, { outcome: 'rejected' });
      }
      throw failure;
    }
  }

  #standing() {
    const { keyring, session } = this.#parts;
    return { hasSession: session.isOpen || isBrowser(), hasPublicKeys: keyring.hasPublicKeys };
  }

  #surroundings(key: string | null): Surroundings {
    const { settings, events, budgets, keyring } = this.#parts;
    return {
      key,
      events,
      budget: budgets.for(key ?? keyring.current),
      windowMs: settings.limits?.windowMs ?? settings.service.windowMs,
      fetch: settings.fetch,
    };
  }

  #keepSession({ route }: Journey, response: Response): void {
    const { session } = this.#parts;
    if (route.path === '/auth/logout') {
      session.clear();
    } else {
      session.absorb(response.headers);
    }
  }
}
