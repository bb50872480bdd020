import type { Call, RequestOptions, DataOptions } from '../../core/types.js';
import type { NamesOf } from '../../core/route.js';
import type { Transport } from '../../core/send.js';
import { withEmptyDeleted } from '../shared/request-body.js';
import { hasBytes, withEncodedAttachments } from './attachments.js';
import { routes } from './routes.js';
import type { AddressVerification, SendRequest, SendResult, VerifyRequest } from './types.js';

/**
 * Transactional email and address verification.
 * @example
 * await messaging.send({ to: 'ann@example.com', template: 'tpl_welcome', data: { plan: 'pro' } });
 * const { valid, reasons } = await messaging.verify({ email: 'ann@exmaple.com' });
 */
export class Emails<Fields extends object = object> implements NamesOf<typeof routes> {
  readonly #transport: Transport;

  readonly #rules: DataOptions;

  constructor(transport: Transport, rules: DataOptions = {}) {
    this.#transport = transport;
    this.#rules = rules;
  }

  /**
   * Sends an email immediately; the whole message may be at most 40 MB. Each recipient is created
   * or updated as a contact. The service handles several recipients one after another: after an
   * error with the outcome `'unknown'`, some of them may have received it.
   */
  send(body: SendRequest<Fields>, options?: RequestOptions): Call<SendResult> {
    return this.sendAfter(undefined, body, options);
  }

  /** The same; `beforeSending` runs right before the request leaves. @internal */
  sendAfter(
    beforeSending: (() => Promise<void>) | undefined,
    body: SendRequest<Fields>,
    options?: RequestOptions,
  ): Call<SendResult> {
    const sent = withEmptyDeleted(body, this.#rules);
    const before = hasBytes(sent) ? { run: () => withEncodedAttachments(sent) } : undefined;
    const hooks = beforeSending && { beforeSending };
    return this.#transport.send(routes.send, { body: sent, before, hooks }, options);
  }

  /** Checks an email address: format, domain, typos, disposable and personal providers. */
  verify(body: VerifyRequest, options?: RequestOptions): Call<AddressVerification> {
    return this.#transport.send(routes.verify, { body }, options);
  }
}
