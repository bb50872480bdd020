import { truncate, type Refusal } from '../core/http.js';
import type { FakeAnswer } from '../core/types.js';

/** The settings of a world that affect errors. */
interface ErrorWorld {
  readonly errorShape: string;
  readonly refusals: 'status' | 'ok';
}

/** The facts that an error body may contain. */
interface ErrorFacts {
  readonly refusal: Refusal;
  readonly requestId: string;
  /** The time, in milliseconds since 1970. */
  readonly now: number;
  /** True for the two endpoints with the second documented body. */
  readonly isLegacy: boolean;
}

/** The response of a refusal, by the settings `errorShape` and `refusals`. */
export function errorAnswer({ errorShape, refusals }: ErrorWorld, facts: ErrorFacts): FakeAnswer {
  const { status, details } = facts.refusal;
  if ('body' in details) {
    return { status, body: details.body };
  }
  // Rate limits and server errors keep their status: they come from a gateway in front of the service.
  if (refusals === 'ok' && status < 500 && status !== 429) {
    return { status: 200, body: envelope(facts) };
  }
  const shape = shapes[errorShape] ?? envelope;
  const headers = errorShape === 'html' && { 'Content-Type': 'text/html; charset=utf-8' };
  return { status, body: shape(facts), ...(headers && { headers }) };
}

const shapes: Readonly<Record<string, (facts: ErrorFacts) => unknown>> = {
  envelope,
  cut: envelope,
  legacy: (facts) => (facts.isLegacy ? legacy(facts) : envelope(facts)),
  bare: ({ refusal }) => ({ error: refusal.message }),
  error: ({ refusal }) => ({ error: refusal.message }),
  message: ({ refusal }) => ({ success: false, message: refusal.message }),
  html: ({ refusal }) => `<html><body><h1>${refusal.message}</h1></body></html>`,
  empty: () => undefined,
};

/** messaging, Errors: the envelope. */
function envelope({ refusal, requestId, now }: ErrorFacts): unknown {
  const { status, code, message, details } = refusal;
  const { errors, suggestion } = details;
  return {
    success: false,
    error: {
      code,
      message,
      statusCode: status,
      requestId,
      ...(errors && { errors }),
      ...(suggestion !== undefined && { suggestion }),
    },
    timestamp: new Date(now).toISOString(),
  };
}

/** messaging, Errors: the body that `/v1/send` and `/v1/verify` are also documented with. */
function legacy({ refusal, now }: ErrorFacts): unknown {
  return { code: refusal.status, error: refusal.code, message: refusal.message, time: now };
}

/** With `errorShape: 'cut'`, the body of a rejection breaks off; a 429 comes from a gateway and stays whole. */
export function cutRefusal(
  response: Response,
  { errorShape }: Pick<ErrorWorld, 'errorShape'>,
): Response {
  const isCut = errorShape === 'cut' && !response.ok && response.status !== 429;
  return isCut ? truncate(response) : response;
}
