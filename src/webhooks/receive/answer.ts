import { WebhookVerificationError, type WebhookProblem } from '../../core/errors.js';

/** The response to a callback, for any server. */
export interface CallbackResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A short reason for the caller's logs, without anything that would help to forge a callback. */
  readonly text: string | undefined;
}

const statuses: Readonly<Record<WebhookProblem, number>> = {
  SIGNATURE_MISSING: 401,
  SIGNATURE_INVALID: 401,
  EXPIRED: 401,
  REPLAYED: 409,
  NOT_CONFIRMED: 409,
  BODY_INVALID: 400,
  BODY_TOO_LARGE: 413,
};

export const handled: CallbackResponse = { status: 204, headers: {}, text: undefined };

/** The response to a callback that takes long to handle: the work continues. */
export const accepted: CallbackResponse = { ...handled, status: 202 };

export const onlyPost: CallbackResponse = createRefusal(405, 'METHOD_NOT_ALLOWED', {
  allow: 'POST',
});

/** The response to a callback that ended in an error: not 2xx, so that the service may try again. */
export function responseOf(error: unknown): CallbackResponse {
  return error instanceof WebhookVerificationError
    ? createRefusal(statuses[error.code], error.code)
    : createRefusal(500, 'NOT_HANDLED');
}

function createRefusal(status: number, text: string, headers = {}): CallbackResponse {
  return { status, headers: { 'content-type': 'text/plain', ...headers }, text };
}
