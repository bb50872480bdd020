import type { Call, RequestOptions } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { Transport } from '../../core/send.js';
import { routes } from './routes.js';
import type { User } from './types.js';

/**
 * The users of the service.
 * @example
 * await messaging.auth.login({ email: 'ann@example.com', password });
 * const me = await messaging.users.me();
 */
export class Users implements MethodsFor<typeof routes> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Gets the current user: the one who signed in, or the key's owner. */
  me(options?: RequestOptions): Call<User> {
    return this.#transport.send(routes.me, {}, options);
  }
}
