import type { Call, RequestOptions } from '../../contract/call.js';
import type { MethodsFor } from '../../contract/methods.js';
import type { Transport } from '../../transport/transport.js';
import { trackingRoutes } from './routes.js';
import type { TrackRequest, TrackResult } from './types.js';

/**
 * Event tracking with either kind of key.
 * @example
 * await messaging.track({ email: 'ann@example.com', event: 'order.paid', data: { total: 42 } });
 */
export class Tracking implements MethodsFor<typeof trackingRoutes> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Tracks an event for a contact, who is created or updated, and starts the workflows that listen
   * for it. A public key is enough.
   */
  track(body: TrackRequest, options?: RequestOptions): Call<TrackResult> {
    return this.#transport.send(trackingRoutes.track, { body }, options);
  }
}
