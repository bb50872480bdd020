import type { mediaBehaviors, messagingBehaviors, BehaviorOf } from 'postreel/testing';
import type { sharedBehaviors } from '../../testing/behavior/shared.js';
import { fieldsOf, type Answer } from './ask.js';

/** What was seen of a world: each setting that reads can tell. */
export type Seen<Table extends typeof mediaBehaviors | typeof messagingBehaviors> = Partial<
  BehaviorOf<Table>
>;

type Shared = Partial<BehaviorOf<typeof sharedBehaviors>>;

/** The habits of a service that every answer shows. */
export function sharedHabits(good: Answer | undefined, missing: Answer): Shared {
  const seen = good ?? missing;
  const { headers, json } = seen;
  // A refusal of another type than JSON says nothing about the type of answers.
  const isJson = json !== undefined || errorShapeOf(seen) === 'cut';
  const isTyped = isJson && !/html/.test(headers.get('content-type') ?? '');
  const limits = rateLimitHeaders(headers);
  return {
    refusals: missing.status < 300 ? 'ok' : 'status',
    delivery: deliveryOf(headers),
    ...(isTyped && { contentType: contentTypeOf(headers) }),
    ...(limits !== undefined && { rateLimitHeaders: limits }),
  };
}

/** The body of a refusal, by its form alone. */
export function errorShapeOf({ text, json }: Answer) {
  const body = fieldsOf(json);
  if (text === undefined || (json === undefined && /^\s*[{[]/.test(text))) {
    return 'cut';
  }
  if (text.trim() === '') {
    return 'empty';
  }
  if (json === undefined) {
    return 'html';
  }
  if (typeof body['error'] === 'object') {
    return 'envelope';
  }
  return typeof body['error'] === 'string' ? 'error' : 'message';
}

function contentTypeOf(headers: Headers) {
  const type = headers.get('content-type');
  if (type === null) {
    return 'none';
  }
  if (/^text\/plain/i.test(type)) {
    return 'text';
  }
  if (/charset/i.test(type)) {
    return 'charset';
  }
  return /\+json/.test(type) ? 'vendor' : 'json';
}

function deliveryOf(headers: Headers) {
  if (headers.get('content-encoding') === 'gzip') {
    return 'compressed';
  }
  return headers.has('content-length') ? 'whole' : 'chunked';
}

function rateLimitHeaders(headers: Headers) {
  if (headers.has('ratelimit-limit')) {
    return 'ratelimit';
  }
  return headers.has('x-ratelimit-limit') ? 'x-ratelimit' : undefined;
}
