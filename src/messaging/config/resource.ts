import type { Call, RequestOptions } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { Transport } from '../../core/send.js';
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
