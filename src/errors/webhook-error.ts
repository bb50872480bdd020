import { branded } from './brand.js';
import { PostreelError } from './base-error.js';

/** Why a callback was refused. */
export type WebhookProblem =
  | 'SIGNATURE_MISSING'
  | 'SIGNATURE_INVALID'
  | 'EXPIRED'
  | 'REPLAYED'
  | 'BODY_TOO_LARGE'
  | 'BODY_INVALID'
  | 'NOT_CONFIRMED';

/** A callback is not what it claims to be, and must not be acted on; `code` is the reason. */
export class WebhookVerificationError extends PostreelError {
  /** @internal */
  static override readonly brands = branded(this, 'WebhookVerificationError');

  declare readonly code: WebhookProblem;

  constructor(code: WebhookProblem, message: string, cause?: unknown) {
    super(message, { code, cause });
  }
}
