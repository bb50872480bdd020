import type { Call, RequestOptions } from '../../contract/call.js';
import type { MethodsFor } from '../../contract/methods.js';
import type { Transport } from '../../transport/transport.js';
import { routes } from './routes.js';
import type { ServiceConfig } from './types.js';

/**
 * The configuration of the service.
 * @example
 * const config = await messaging.config.get();
 */
export class Config implements MethodsFor<typeof routes> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Gets the feature flags of enabled integrations. Needs no key. */
  get(options?: RequestOptions): Call<ServiceConfig> {
    return this.#transport.send(routes.get, {}, options);
  }
}
