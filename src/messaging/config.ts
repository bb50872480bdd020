import { ofType, route, type MethodsFor } from '../core/call/route.js';
import type { OpenRecord } from '../core/values.js';
import type { Call, RequestOptions } from '../core/types.js';
import type { Transport } from '../core/call/send.js';

export const routes = {
  get: route('GET /config', {
    returns: ofType<ServiceConfig>(),
    key: 'none', // "public, no authentication"
  }),
};

/** Which integrations are enabled. The service does not document its fields. */
export interface ServiceConfig extends OpenRecord {}

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
