import type { Call, RequestOptions, DataOptions } from '../../core/types.js';
import type { NamesOf } from '../../core/route.js';
import type { Transport } from '../../core/send.js';
import { withEmptyDeleted } from '../shared/request-body.js';
import { trackingRoutes } from './routes.js';
import type { TrackRequest, TrackResult } from './types.js';

/**
 * Event tracking with either kind of key.
 * @example
 * await messaging.track({ email: 'ann@example.com', event: 'order.paid', data: { total: 42 } });
 */
export class Tracking<Fields extends object = object> implements NamesOf<typeof trackingRoutes> {
  readonly #transport: Transport;

  readonly #rules: DataOptions;

  constructor(transport: Transport, rules: DataOptions = {}) {
    this.#transport = transport;
    this.#rules = rules;
  }

  /**
   * Tracks an event for a contact, who is created or updated, and starts the workflows that listen
   * for it. A public key is enough. The service does not document whether a contact that it creates is
   * subscribed: services of this kind subscribe it.
   */
  track(body: TrackRequest<Fields>, options?: RequestOptions): Call<TrackResult> {
    const sent = withEmptyDeleted(body, this.#rules);
    return this.#transport.send(trackingRoutes.track, { body: sent }, options);
  }
}
