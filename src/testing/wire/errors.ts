import type { FieldError, Refusal } from '../core/http/refusal.js';
import type { FakeAnswer } from '../core/types.js';

/** The settings of a world that errors depend on. */
interface ErrorWorld {
  readonly errorShape: string;
  readonly refusals: 'status' | 'ok';
  readonly fieldErrors?: string;
}

/** What an error body may tell. */
export interface ErrorFacts {
  readonly refusal: Refusal;
  readonly requestId: string;
  /** The time, in milliseconds since 1970. */
  readonly now: number;
  /** Is this one of the two endpoints with the second documented body? */
  readonly isLegacy: boolean;
  /** How it lists the fields that are wrong. */
  readonly fieldErrors: string;
}

/** A refusal as the world of `errorShape` and `refusals` has it. */
export function errorAnswer(
  { errorShape, refusals, fieldErrors = 'fields' }: ErrorWorld,
  given: Omit<ErrorFacts, 'fieldErrors'>,
): FakeAnswer {
  const { status, details } = given.refusal;
  const facts: ErrorFacts = { ...given, fieldErrors };
  if ('body' in details) {
    return { status, body: details.body };
  }
  // A limit and a breakdown are answered by what stands in front of the service.
  if (refusals === 'ok' && status < 500 && status !== 429) {
    return { status: 200, body: envelope(facts) };
  }
  const shape = shapes[errorShape] ?? envelope;
  const type = contentTypes[errorShape];
  return {
    status,
    body: shape(facts),
    ...(type !== undefined && { headers: { 'Content-Type': type } }),
  };
}

const shapes: Readonly<Record<string, (facts: ErrorFacts) => unknown>> = {
  envelope,
  cut: envelope,
  legacy: (facts) => (facts.isLegacy ? legacy(facts) : envelope(facts)),
  bare: ({ refusal }) => ({ error: refusal.message }),
  error: ({ refusal }) => ({ error: refusal.message }),
  message: ({ refusal }) => ({ success: false, message: refusal.message }),
  'data-text': ({ refusal }) => ({ success: false, data: refusal.message }),
  text: ({ refusal }) => refusal.message,
  html: ({ refusal }) => `<html><body><h1>${refusal.message}</h1></body></html>`,
  problem: ({ refusal, requestId }) => ({
    type: `https://errors.example/${refusal.code.toLowerCase()}`,
    title: refusal.code,
    status: refusal.status,
    detail: refusal.message,
    instance: requestId,
  }),
  empty: () => undefined,
};

const contentTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  problem: 'application/problem+json',
};

/** messaging, Errors: the envelope. */
function envelope({ refusal, requestId, now, fieldErrors }: ErrorFacts): unknown {
  const { status, code, message, details } = refusal;
  const errors = details.errors && listed(details.errors, fieldErrors);
  const suggestion = details.suggestion ?? 'See the documentation of this endpoint.';
  return {
    success: false,
    error: {
      code,
      message,
      statusCode: status,
      requestId,
      ...(fieldErrors !== 'beside' && errors),
      suggestion,
    },
    ...(fieldErrors === 'beside' && errors),
    timestamp: new Date(now).toISOString(),
  };
}

/** The list of wrong fields under the name and in the form of this world. */
function listed(errors: readonly FieldError[], form: string): object {
  const all = (entryOf: (error: FieldError, path: readonly string[]) => unknown) =>
    errors.map((error) => entryOf(error, error.field.split('.')));
  switch (form) {
    case 'paths':
      return { errors: all(({ message }, path) => ({ loc: ['body', ...path], msg: message })) };
    case 'pointers':
      return {
        errors: all(({ message }, path) => ({
          source: { pointer: `/${path.join('/')}` },
          detail: message,
        })),
      };
    case 'map':
      return { errors: Object.fromEntries(errors.map(({ field, message }) => [field, [message]])) };
    case 'texts':
      return { errors: all(({ field, message }) => `${field}: ${message}`) };
    case 'issues':
      return { issues: all(({ message, code }, path) => ({ path, message, code })) };
    default:
      return { errors };
  }
}

/** messaging, Errors: the body that `/v1/send` and `/v1/verify` are also documented with. */
function legacy({ refusal, now }: ErrorFacts): unknown {
  return { code: refusal.status, error: refusal.code, message: refusal.message, time: now };
}
