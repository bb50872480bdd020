import type { Call, RequestOptions } from '../../contract/call.js';
import type { MethodsFor } from '../../contract/methods.js';
import type { Transport } from '../../transport/transport.js';
import { routes } from './routes.js';
import type { AddressVerification, SendRequest, SendResult, VerifyRequest } from './types.js';

/**
 * Transactional emails and checks of addresses.
 * @example
 * await messaging.send({ to: 'ann@example.com', template: 'tpl_welcome', data: { plan: 'pro' } });
 * const { valid, reasons } = await messaging.verify({ email: 'ann@exmaple.com' });
 */
export class Emails implements MethodsFor<typeof routes> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Sends an email at once, of at most 40 MB. Recipients are created or updated as contacts. Several
   * recipients are handled one after another: after an error with the outcome `'unknown'` some of
   * them may have been mailed.
   */
  send(body: SendRequest, options?: RequestOptions): Call<SendResult> {
    return this.#transport.send(routes.send, { body }, options);
  }

  /** Checks an address: its form, its domain, typing errors, disposable and personal providers. */
  verify(body: VerifyRequest, options?: RequestOptions): Call<AddressVerification> {
    return this.#transport.send(routes.verify, { body }, options);
  }
}
