import { isRecord } from '../../core/values.js';
import type { WebhookResult } from '../../core/types.js';
import { invalidBody } from './read-body.js';

/** Parses the documented body (media, Events). Ignores unknown fields. */
export function parseCallback(body: unknown): WebhookResult {
  const raw = typeof body === 'string' ? parseJson(body) : body;
  if (!isRecord(raw) || !isRecord(raw.data)) {
    throw invalidBody('expected `{ success, data }`');
  }
  const { id, file } = raw.data;
  // Reject an unsafe integer: a parser has rounded it, so it is the id of another file.
  const fileId = Number.isSafeInteger(id) ? String(id) : id;
  if (typeof fileId !== 'string' || fileId === '') {
    throw invalidBody('`data.id` must be a non-empty string');
  }
  if (raw.success === false) {
    return { fileId, status: 'error', raw };
  }
  if (raw.success !== true) {
    throw invalidBody('`success` must be true or false');
  }
  if (!isWebAddress(file)) {
    throw invalidBody('`data.file` must be an http(s) URL');
  }
  return { fileId, status: 'success', url: file, raw };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidBody('it is not JSON', cause);
  }
}

function isWebAddress(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}
