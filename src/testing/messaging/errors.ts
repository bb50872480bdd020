import type { Refusal } from '../core/http/refusal.js';
import type { FakeRequest } from '../core/types.js';
import type { MessagingWorld } from './state.js';

/** messaging, Errors: the envelope, or the other shapes that `settings.errorShape` asks for. */
export function errorBody(
  { clock, settings }: MessagingWorld,
  refusal: Refusal,
  { request, requestId }: { readonly request: FakeRequest; readonly requestId: string },
): unknown {
  const { status, code, message, details } = refusal;
  if (settings.errorShape === 'bare') {
    return { error: message };
  }
  if (settings.errorShape === 'legacy' && hasLegacyErrors.has(request.path)) {
    return { code: status, error: code, message, time: clock.now() };
  }
  const suggestion = details.suggestion ?? 'See the documentation of this endpoint.';
  return {
    success: false,
    error: {
      code,
      message,
      statusCode: status,
      requestId,
      ...(details.errors && { errors: details.errors }),
      suggestion,
    },
    timestamp: clock.date(),
  };
}

/** messaging, Errors: these two are also documented with another shape. */
const hasLegacyErrors = new Set(['/v1/send', '/v1/verify']);
