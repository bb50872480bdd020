import { ofType, route, type MethodsFor } from '../core/call/route.js';
import type { OpenRecord } from '../core/values.js';
import type { Call, RequestOptions } from '../core/types.js';
import type { Transport } from '../core/call/send.js';

export const routes = {
  me: route('GET /users/@me', {
    returns: ofType<User>(),
    // An account route; the document does not show which key it takes.
    key: 'secret-or-session',
  }),
};

/** A user of the service. The service does not document its fields. */
export interface User extends OpenRecord {}

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
