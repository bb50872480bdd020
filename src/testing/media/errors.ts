import type { Refusal } from '../core/http/refusal.js';
import type { FakeMediaOptions } from './options.js';

/** The body of a rejection. media, Errors 4: its shape is not shown, so it can be chosen. */
export function errorBody(
  shape: FakeMediaOptions['errorShape'],
  { status, code, message }: Refusal,
  requestId: string,
): unknown {
  switch (shape) {
    case 'error':
      return { error: message };
    case 'envelope':
      return { success: false, error: { code, message, statusCode: status, requestId } };
    case 'text':
      return message;
    case 'empty':
      return undefined;
    default:
      return { success: false, message };
  }
}
