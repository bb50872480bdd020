import type { Call, RequestOptions, DataOptions } from '../../core/types.js';
import type { NamesOf } from '../../core/route.js';
import type { OnceKey } from '../../core/once.js';
import type { Transport } from '../../core/send.js';
import { withEmptyDeleted } from '../shared/request-body.js';
import { isRecord } from '../../core/values.js';
import { withAddresses, withoutEmail } from './addresses.js';
import { hasFiles, withEncodedAttachments } from './attachments.js';
import type { TextCheck } from '../templates/text-check.js';
import { routes } from './routes.js';
import type { AddressVerification, SendRequest, SendResult, VerifyRequest } from './types.js';

/** What emails need beside their transport. */
interface EmailsParts {
  readonly rules: DataOptions;
  readonly warn: (message: string) => void;
  readonly checkTexts: TextCheck;
}

/**
 * Transactional email and address verification.
 * @example
 * await messaging.send({ to: 'ann@example.com', template: 'tpl_welcome', data: { plan: 'pro' } });
 * const { valid, reasons } = await messaging.verify({ email: 'ann@exmaple.com' });
 */
export class Emails<Fields extends object = object> implements NamesOf<typeof routes> {
  readonly #transport: Transport;
  readonly #rules: DataOptions;
  readonly #warn: (message: string) => void;
  readonly #checkTexts: TextCheck;

  constructor(transport: Transport, { rules, warn, checkTexts }: EmailsParts) {
    this.#transport = transport;
    this.#rules = rules;
    this.#warn = warn;
    this.#checkTexts = checkTexts;
  }

  /**
   * Sends an email immediately; the whole message may be at most 40 MB. Each recipient is created
   * or updated as a contact. The service handles several recipients one after another: after an
   * error with the outcome `'unknown'`, some of them may have received it.
   */
  send(body: SendRequest<Fields>, options?: RequestOptions): Call<SendResult> {
    return this.sendUnder(undefined, body, options);
  }

  /** The same under a key of ours. @internal */
  sendUnder(
    once: OnceKey | undefined,
    body: SendRequest<Fields>,
    options?: RequestOptions,
  ): Call<SendResult> {
    const sent = withEmptyDeleted(withAddresses(body), this.#rules);
    this.#checkTexts(sent);
    const before = hasFiles(sent) ? { run: () => withEncodedAttachments(sent) } : undefined;
    const call = this.#transport.send(routes.send, { body: sent, before, once }, options);
    const to: unknown = isRecord(sent) ? sent['to'] : undefined;
    return Array.isArray(to) && to.length > 1 ? call.map((data) => this.#told(to, data)) : call;
  }

  /** Tells who of several recipients was left out. */
  #told(to: readonly unknown[], data: SendResult): SendResult {
    const missing = withoutEmail(to, data);
    if (missing.length > 0) {
      this.#warn(
        `The answer names no email to ${missing.join(', ')}: they may not have been mailed.`,
      );
    }
    return data;
  }

  /** Checks an email address: format, domain, typos, disposable and personal providers. */
  verify(body: VerifyRequest, options?: RequestOptions): Call<AddressVerification> {
    return this.#transport.send(routes.verify, { body }, options);
  }
}
