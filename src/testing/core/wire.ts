import { isRecord } from '../../core/values.js';
import type { Clock } from './clock.js';
import { truncate, type Refusal } from './http.js';
import type { Ids, IdStyle } from './ids.js';
import type { Wire } from './service.js';
import type { SharedBehavior } from './settings.js';
import type { FakeAnswer, FakeRequest } from './types.js';

/** The parts of a world that decide what its callers see. */
interface WireWorld {
  readonly settings: SharedBehavior & { readonly errorShape: string };
  readonly ids: Ids;
  readonly clock: Clock;
}

/**
 * Translates between the handlers, which follow the documents, and the callers of this world. A service may
 * translate its own settings, too.
 */
export function createWire(
  world: () => WireWorld,
  own: Partial<Pick<Wire, 'request' | 'answer'>> = {},
): Wire {
  return {
    request(request, endpoint) {
      const { ids, settings } = world();
      const given = withOwnIds(request, ids, settings.ids);
      return own.request?.(given, endpoint) ?? given;
    },
    answer(answer, endpoint) {
      const { ids, settings } = world();
      const shaped = own.answer?.(answer, endpoint) ?? answer;
      return enveloped({ ...shaped, body: encodeBody(shaped.body, settings, ids) }, settings);
    },
    refusal(refusal, { path }, requestId) {
      const { settings, clock } = world();
      // messaging, Errors: two endpoints are shown with a second body.
      const isLegacy = path === '/v1/send' || path === '/v1/verify';
      return errorAnswer(settings, { refusal, requestId, now: clock.now(), isLegacy });
    },
    deliver: (response) => cutRefusal(response, world().settings),
  };
}

/** Writes the ids and additional fields of a response as the settings say. */
function encodeBody(body: unknown, behavior: SharedBehavior, ids: Ids): unknown {
  if (behavior.ids === 'text' && behavior.extraFields === 'none') {
    return body;
  }
  const grown = withExtras(asJson(body), behavior.extraFields);
  return mapJson(grown, (value, name) =>
    typeof value === 'string' && !keepsText.test(name) ? ids.toWire(value, behavior.ids) : value,
  );
}

/** Wraps a response in the envelope, or unwraps it; a documented envelope stays. */
function enveloped(
  answer: FakeAnswer,
  { envelopes }: Pick<SharedBehavior, 'envelopes'>,
): FakeAnswer {
  const { body } = answer;
  if (envelopes === 'documented' || body === undefined) {
    return answer;
  }
  const isEnveloped = isRecord(body) && body.success === true;
  if (envelopes === 'always') {
    return isEnveloped ? answer : { ...answer, body: { success: true, data: body } };
  }
  return isEnveloped && 'data' in body ? { ...answer, body: body.data } : answer;
}

/** The names of keys, addresses and times: their values are not ids. */
const keepsText = /key$|^token$|^url$|^download$|At$|_at$|^timestamp$/i;

/** Simulates a later version of the service, whose records have additional fields. */
function withExtras(body: unknown, style: SharedBehavior['extraFields']): unknown {
  if (style === 'none') {
    return body;
  }
  if (Array.isArray(body)) {
    return body.map((item: unknown) => withExtras(item, style));
  }
  if (!isRecord(body)) {
    return body;
  }
  // Do not extend the `data` of an envelope or a list: it belongs to the service.
  const isResource = 'id' in body || 'email' in body;
  const entries = Object.entries(body).map(([name, value]) => [
    name,
    isResource && isFree.has(name) ? value : withExtras(value, style),
  ]);
  const grown = Object.fromEntries(entries) as Record<string, unknown>; // entries lose their types
  return { ...grown, ...(style === 'flat' ? flat : nested) };
}

/** Fields that the caller wrote; they are returned unchanged. */
const isFree = new Set(['data', 'condition', 'audienceFilter', 'config', 'context', 'settings']);
const flat = { objectVersion: 7 };
const nested = {
  links: { self: { href: '/somewhere' } },
  objectVersion: { major: 1, minor: null },
};

/** Converts every id of a request to the world's form. */
function withOwnIds(request: FakeRequest, ids: Ids, style: IdStyle): FakeRequest {
  if (style === 'text') {
    return request;
  }
  const own = (value: unknown) => ids.fromWire(value, style);
  const query = new URLSearchParams();
  for (const [name, value] of request.query) {
    query.append(name, isIdName(name) ? String(own(value)) : value);
  }
  const params = Object.entries(request.params).map(([name, value]) => [
    name,
    isIdName(name) ? String(own(value)) : value,
  ]);
  return {
    ...request,
    query,
    params: Object.fromEntries(params) as Record<string, string>, // entries lose their types
    body: mapJson(request.body, (value, name) => (isIdName(name) ? own(value) : value)),
  };
}

/** The names that ids go by in paths, queries and bodies; items of a list have the list's name. */
const isIdName = (name: string) => /^ids?$|Ids?$|^template$/.test(name);

/** A copy of a JSON value with each text, number, boolean and null replaced; items have the name of their list. */
function mapJson(
  value: unknown,
  change: (leaf: unknown, name: string) => unknown,
  name = '',
): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown) => mapJson(item, change, name));
  }
  if (typeof value !== 'object' || value === null) {
    return change(value, name);
  }
  const entries = Object.entries(value).map(([key, part]) => [key, mapJson(part, change, key)]);
  return Object.fromEntries(entries);
}

/** Converts a value as JSON would: without `undefined`, with instances as plain objects. */
export function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
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
function errorAnswer(
  { errorShape, refusals }: WireWorld['settings'],
  facts: ErrorFacts,
): FakeAnswer {
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
  bare: errorOnly,
  error: errorOnly,
  message: ({ refusal }) => ({ success: false, message: refusal.message }),
  html: ({ refusal }) => `<html><body><h1>${refusal.message}</h1></body></html>`,
  empty: () => undefined,
};

/** A body of the message alone: `bare` for messaging, `error` for media. */
function errorOnly({ refusal }: ErrorFacts): unknown {
  return { error: refusal.message };
}

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
function cutRefusal(response: Response, { errorShape }: WireWorld['settings']): Response {
  const isCut = errorShape === 'cut' && !response.ok && response.status !== 429;
  return isCut ? truncate(response) : response;
}
