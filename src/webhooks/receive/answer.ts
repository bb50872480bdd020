import { WebhookVerificationError, type WebhookProblem } from '../../core/errors.js';

/** The response to a callback, for any server. */
export interface Answer {
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

export const handled: Answer = { status: 204, headers: {}, text: undefined };

/** The response to a callback that takes long to handle: the work continues. */
export const atWork: Answer = { ...handled, status: 202 };

export const onlyPost: Answer = refusal(405, 'METHOD_NOT_ALLOWED', { allow: 'POST' });

/** The response to a callback that ended in an error: not 2xx, so that the service may try again. */
export function answerTo(error: unknown): Answer {
  return error instanceof WebhookVerificationError
    ? refusal(statuses[error.code], error.code)
    : refusal(500, 'NOT_HANDLED');
}

function refusal(status: number, text: string, headers = {}): Answer {
  return { status, headers: { 'content-type': 'text/plain', ...headers }, text };
}
