import { PostreelError, type ErrorDetails, type FieldError } from './base-error.js';
import { branded } from './brand.js';
import { withoutOwnFrames } from './stack.js';

/** Our own check refused the call before it reached the network; `fieldErrors` has the reasons. */
export class InvalidRequestError extends PostreelError {
  /** @internal */
  static override readonly brands = branded(this, 'InvalidRequestError');

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, { outcome: 'not-sent', ...details });
  }
}

/** The client is misconfigured: a key, an address or an option is wrong. */
export class ConfigurationError extends PostreelError {
  /** @internal */
  static override readonly brands = branded(this, 'ConfigurationError');

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, { outcome: 'not-sent', ...details });
    // Thrown by a constructor, whose caller made the slip.
    const { stack } = this as { stack?: unknown }; // a program may format stacks its own way
    if (typeof stack === 'string') {
      const [line = '', ...frames] = stack.split('\n');
      this.stack = [line, ...withoutOwnFrames(frames)].join('\n');
    }
  }
}

/** The service could not be reached, or the connection broke before the answer was complete. */
export class ConnectionError extends PostreelError {
  /** @internal */
  static override readonly brands = branded(this, 'ConnectionError');
}

/** No complete answer within `timeout`, or the call did not fit its `deadline`. */
export class TimeoutError extends PostreelError {
  /** @internal */
  static override readonly brands = branded(this, 'TimeoutError');
}

/** The service answered something that cannot be read as an answer to this call. */
export class UnexpectedResponseError extends PostreelError {
  /** @internal */
  static override readonly brands = branded(this, 'UnexpectedResponseError');
}

/** The error for a call that our own checks refuse: it names the field and the rule. */
export function invalidRequest(
  fieldErrors: readonly FieldError[],
  where: { method?: string; path?: string } = {},
): InvalidRequestError {
  const [first] = fieldErrors;
  const more = fieldErrors.length > 1 ? ` (and ${fieldErrors.length - 1} more)` : '';
  // A rule that speaks for the whole call, e.g. "`contacts.lookup()` takes …", stands alone.
  const sentence = first === undefined ? 'it is not valid' : describe(first);
  const line =
    where.method === undefined
      ? capitalised(sentence)
      : `${where.method} ${where.path ?? ''} was not sent: ${sentence}`;
  const end = `${line}${more}`.endsWith('?') ? '' : '.';
  return new InvalidRequestError(`${line}${more}${end}`, {
    code: 'INVALID_REQUEST',
    outcome: 'not-sent',
    fieldErrors,
    ...where,
  });
}

function describe({ field, message }: FieldError): string {
  return field === '' ? message : `\`${field}\` ${message}`;
}

function capitalised(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

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
