import type { ListOptions } from '../../contract/call.js';
import { invalidOption } from '../../contract/options.js';
import { isRecord, type FileInput } from '../../contract/records.js';
import type { MultipartBody, Route } from '../../contract/route.js';
import {
  ConfigurationError,
  InvalidRequestError,
  invalidRequest,
} from '../../errors/client-errors.js';
import { isPostreelError } from '../../errors/guards.js';
import { isBrowser, signInInTheClear } from '../auth/api-key.js';
import type { CallState } from '../call.js';
import type { CallContext, RawInput, TransportParts } from '../context.js';
import type { OutgoingRequest } from '../send/http.js';
import type { ServiceFacts } from '../settings.js';
import { jsonText, wireValue } from './body.js';
import { readHeaders, type HeaderRecord } from './headers.js';
import { fillPath, kindOf, queryString } from './url.js';

let lastId = 0;

/** Builds a call from its row, input and options. Nothing that the caller changes later matters. */
export function prepare(
  route: Route,
  input: RawInput,
  options: ListOptions,
  { parts, state, startedAt }: { parts: TransportParts; state: CallState; startedAt: number },
): CallContext {
  const { settings } = parts;
  requireFetch(settings.fetch);
  const { timeout: timeoutMs = settings.timeoutMs, retries = settings.retries } = options;
  const { deadline = Number.POSITIVE_INFINITY, priority = 'interactive' } = options;
  const { signal, prefetch } = options;
  try {
    if (prefetch !== undefined && route.returns.list === undefined) {
      throw invalidOption('`prefetch` must be left out: only lists have pages');
    }
    const path = fillPath(route.path, input.params);
    const query = queryOf(input.query);
    const sent = { ...input, query, body: bodyOf(route, input) };
    const usesSession = hasSession(route, settings.service);
    if (usesSession && settings.usesPlainHttp) {
      throw signInInTheClear();
    }
    const id = ++lastId;
    state.callId = id;
    return {
      id,
      route,
      path,
      input: sent,
      options,
      state,
      request: requestOf({ route, path, input: sent, options, usesSession }, parts),
      isHandledOneByOne: route.handledOneByOne?.(sent.body as never) ?? false, // the body of this row
      usesSession,
      isCharged: input.isCharged ?? route.charged,
      priority,
      signal,
      timeoutMs,
      deadlineAt: startedAt + deadline,
      retries,
    };
  } catch (error) {
    throw refusal(error, { method: route.method, path: route.path });
  }
}

// Jest's jsdom has none of them; what is missing would fail in the midst of a call.
function requireFetch(own: typeof fetch | undefined): void {
  const needed: readonly unknown[] = [
    own ?? globalThis.fetch,
    globalThis.Request,
    globalThis.Headers,
  ];
  if (needed.some((one) => typeof one !== 'function')) {
    throw new ConfigurationError(
      "This environment has no `fetch`, `Request` or `Headers`. In Jest use the environment 'node' (or 'jest-fixed-jsdom'), elsewhere a polyfill.",
      { code: 'FETCH_MISSING' },
    );
  }
}

// A getter or `toJSON` of the caller may throw anything.
function refusal(error: unknown, where: { method: string; path: string }): unknown {
  if (error instanceof InvalidRequestError) {
    return invalidRequest(error.fieldErrors, where);
  }
  if (isPostreelError(error)) {
    return error;
  }
  const refused = invalidRequest([{ field: 'body', message: 'cannot be read' }], where);
  Object.defineProperty(refused, 'cause', { value: error, configurable: true, writable: true });
  return refused;
}

function hasSession({ key, path }: Route, { session }: ServiceFacts): boolean {
  return key === 'secret-or-session' || (session !== undefined && path.startsWith(session.prefix));
}

function requestOf(
  {
    route,
    path,
    input,
    options,
    usesSession,
  }: Pick<CallContext, 'route' | 'path' | 'input' | 'options' | 'usesSession'>,
  { settings, session }: TransportParts,
): OutgoingRequest {
  const content = contentOf(route, input.body);
  const headers: HeaderRecord = { ...settings.headers, ...readHeaders(options.headers) };
  // The type of a caller's form names its boundary: it is left to `fetch`.
  if (typeof content === 'string' || (settings.service.alwaysJson && content === undefined)) {
    headers['content-type'] = 'application/json';
  }
  const cookie = usesSession ? session.header() : undefined;
  if (cookie !== undefined) {
    headers['cookie'] = cookie;
  }
  const body = contentBody(content, headers);
  return {
    method: route.method,
    url: settings.baseUrl + path + queryString(input.query),
    headers,
    ...(body !== undefined && { body }),
    ...(input.isPoll && { cache: 'no-store' }), // every status must come fresh from the service
    // Only a browser has the cookie to include.
    ...(usesSession && isBrowser() && { credentials: 'include' }),
  };
}

// A copy: what is checked and what is sent are the same, whatever the caller changes later.
function bodyOf(route: Route, { body, isFree }: RawInput): unknown {
  if (route.upload || body === undefined || body instanceof FormData) {
    return body;
  }
  const wire = wireValue(body);
  if (isFree || isRecord(wire)) {
    return wire;
  }
  throw invalidRequest([
    { field: '', message: `pass its fields as one object; got ${kindOf(body)}` },
  ]);
}

// `list('ann')` would ask for everything.
function queryOf(query: object | undefined): object | undefined {
  if (query === undefined || isRecord(query)) {
    return query && { ...query };
  }
  throw invalidRequest([
    { field: '', message: `pass the query as an object; got ${kindOf(query)}` },
  ]);
}

type Content = string | FormData | MultipartBody | undefined;

function contentBody(content: Content, headers: HeaderRecord): OutgoingRequest['body'] {
  if (typeof content !== 'object' || content instanceof FormData) {
    return content;
  }
  headers['content-type'] = content.contentType;
  return content.content;
}

function contentOf(route: Route, body: unknown): Content {
  if (route.upload) {
    return route.upload.form(body as FileInput, route.upload); // upload rows take files
  }
  return body === undefined || body instanceof FormData ? body : jsonText(body, route.maxBodyBytes);
}
