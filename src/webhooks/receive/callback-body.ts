import { isRecord } from '../../contract/records.js';
import type { WebhookResult } from '../../contract/inbox.js';
import { WebhookVerificationError } from '../../errors/index.js';

/** Reads what the service documents (media, Events); fields too many do no harm. */
export function parseCallback(body: unknown): WebhookResult {
  const raw = typeof body === 'string' ? parseJson(body) : body;
  if (!isRecord(raw) || !isRecord(raw.data)) {
    throw invalid('`{ success, data }` is expected');
  }
  const { id: fileId, file } = raw.data;
  if (typeof fileId !== 'string' || fileId === '') {
    throw invalid('`data.id` is no text');
  }
  if (raw.success === false) {
    return { fileId, status: 'error', raw };
  }
  if (raw.success !== true) {
    throw invalid('`success` is neither true nor false');
  }
  if (!isWebAddress(file)) {
    throw invalid('`data.file` is no http(s) address');
  }
  return { fileId, status: 'success', url: file, raw };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid('it is no JSON', cause);
  }
}

function isWebAddress(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}

function invalid(reason: string, cause?: unknown): WebhookVerificationError {
  const message = `The callback's body cannot be read: ${reason}.`;
  return new WebhookVerificationError('BODY_INVALID', message, cause);
}
