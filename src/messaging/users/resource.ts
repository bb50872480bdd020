import type { Call, RequestOptions } from '../../contract/call.js';
import type { MethodsFor } from '../../contract/methods.js';
import type { Transport } from '../../transport/transport.js';
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
