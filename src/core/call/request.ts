import { encodeJson, toJsonValue } from './body.js';
import type { Clock } from '../async.js';
import type { CallState } from './call.js';
import {
  ConfigurationError,
  InvalidRequestError,
  invalidRequest,
  isPostreelError,
} from '../errors.js';
import { isBrowser } from '../runtime.js';
import { plainHttpSessionError } from '../keys.js';
import { invalidOption, type OptionKind } from '../options.js';
import { readHeaders, type HeaderRecord } from './headers.js';
import type { Effect } from './outcome.js';
import { ofType, route, type Method, type MultipartBody, type Route } from './route.js';
import type { FreeInput, ListOptions, RequestOptions } from '../types.js';
import { encodeForm, isForm } from './upload.js';
import { isDate, isRecord, kindOf, type FileInput } from '../values.js';
import type { OnceKey } from '../once/key.js';
import type { Settings } from '../settings.js';
import type { Session } from '../session.js';
import { version } from '../version.js';

/** The input of a call from a method of a resource. */
export interface CallInput {
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: object | undefined;
  readonly body?: unknown;
  /** A step before the call is built. It may make the body, make another call first, or reject the call. */
  readonly before?: PreparationStep | undefined;
  /** Facts about the body for the checks. */
  readonly about?: BodyFacts | undefined;
  /** Does this call count towards the rate limit? Overrides the row. */
  readonly isCharged?: boolean | undefined;
  /** The input has been checked: see `Transport.check()`. */
  readonly isChecked?: boolean | undefined;
  /** The key under which the call is made once. Replaces the caller's `once`. */
  readonly once?: OnceKey | undefined;
  readonly hooks?: SendHooks | undefined;
}

/** A step that some methods run before their call is built. */
export interface PreparationStep {
  /** The options that only this method takes. */
  readonly options?: Readonly<Record<string, OptionKind>>;
  /**
   * Runs the step. Resolves to a body, or to nothing. Declared as a method, because TypeScript then also accepts
   * a function whose options have a more specific type.
   */
  run(options: RequestOptions): Promise<unknown>;
}

/** Facts about a body that its checks need. */
export interface BodyFacts {
  /** The place of the caller's object in the body, e.g. `payload[0]`. Errors name fields from there. */
  readonly reportPath?: string | undefined;
  /** Is the body a record that the service returned? Then unknown fields are expected in it. */
  readonly isServiceRecord?: boolean | undefined;
}

/** Steps around the request of a call that is paid for. */
export interface SendHooks {
  /**
   * Runs before each attempt, when the rate limit has granted a slot. If it throws, the call ends unsent. If
   * it resolves to a body, that body is sent instead of the given one.
   */
  readonly beforeSending?: (() => Promise<unknown>) | undefined;
  /** Runs after an attempt that will be repeated, before the pause. It must not throw. */
  readonly beforePause?: (() => Promise<void>) | undefined;
  /**
   * Receives the body of a successful response that arrives after the caller gave up; then the request is
   * not aborted.
   */
  readonly onLate?: ((body: unknown) => void) | undefined;
}

/** A request that is ready to be sent. Only the API key is added, for each attempt. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderRecord;
  readonly body?: string | Blob;
  readonly credentials?: 'include';
}

/** One call: the parts that are the same for every attempt. */
export interface PreparedCall extends Effect {
  /** The number of the call, the same in all of its events. */
  readonly id: number;
  readonly route: Route;
  readonly method: Method;
  /** The path with its parameters filled in, without the query. */
  readonly path: string;
  readonly query: object | undefined;
  readonly body: unknown;
  readonly input: CallInput;
  readonly options: ListOptions;
  readonly request: OutgoingRequest;
  /** The name under which errors mention the setting of the base address. */
  readonly baseUrlName: string;
  readonly isCharged: boolean;
  /** Is the call part of the session of `auth.login()`? */
  readonly usesSession: boolean;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** When the call must be over, in milliseconds by its clock; Infinity without a deadline. */
  readonly deadlineAt: number;
  readonly retries: number;
  readonly state: CallState;
}

let lastId = 0;

/** Builds a call from its row, input and options. Later changes by the caller have no effect on it. */
export function prepareCall(
  route: Route,
  input: CallInput,
  options: ListOptions,
  { settings, session, state, startedAt }: CallContext,
): PreparedCall {
  const { clock } = settings;
  requireFetch(settings.fetch);
  const { method } = route;
  try {
    if (options.prefetch !== undefined && route.returns.list === undefined) {
      throw invalidOption('`prefetch` must be left out: only lists have pages');
    }
    const path = fillPath(route.path, input.params);
    const query = queryOf(input.query);
    const body = bodyOf(route, input.body);
    const usesSession = hasSession(route, settings);
    if (usesSession && settings.usesPlainHttp) {
      throw plainHttpSessionError();
    }
    const content = contentOf(route, body);
    const headers: HeaderRecord = { ...settings.headers, ...readHeaders(options.headers) };
    if (!isBrowser()) {
      headers['user-agent'] ??= `postreel/${version}`; // a browser would need the service's consent
    }
    const cookie = usesSession ? session.header() : undefined;
    if (cookie !== undefined) {
      headers['cookie'] = cookie;
    }
    const isMultipart = typeof content === 'object';
    if (isMultipart) {
      headers['content-type'] = content.contentType;
    } else if (content !== undefined || settings.service.alwaysJson) {
      headers['content-type'] = 'application/json';
    }
    const sent = isMultipart ? content.content : content;
    state.callId = ++lastId;
    return {
      id: lastId,
      route,
      method,
      path,
      query,
      body,
      input,
      options,
      state,
      clock,
      request: {
        method,
        url: settings.baseUrl + path + encodeQuery(query),
        headers,
        ...(sent !== undefined && { body: sent }),
        // Only a browser holds the cookie to include.
        ...(usesSession && isBrowser() && { credentials: 'include' }),
      },
      baseUrlName: settings.baseUrlName,
      changes: route.changes,
      isPartial: (status) => route.partial?.(body as never, status) ?? false, // as: the body of this row
      usesSession,
      isCharged: input.isCharged ?? route.charged,
      signal: options.signal,
      timeoutMs: options.timeout ?? settings.timeoutMs,
      deadlineAt: startedAt + (options.deadline ?? Number.POSITIVE_INFINITY),
      retries: options.retries ?? settings.retries,
    };
  } catch (error) {
    throw toCallError(error, { method, path: route.path });
  }
}

/** The parts of a client, and the state of a call, that the call is built from. */
interface CallContext {
  readonly settings: Settings;
  readonly session: Session;
  readonly state: CallState;
  readonly startedAt: number;
}

// Jest's jsdom has none of these globals. Without this check the call would fail in the middle.
function requireFetch(own: typeof fetch | undefined): void {
  const { fetch, Request, Headers } = globalThis as Record<string, unknown>;
  if ([own ?? fetch, Request, Headers].some((one) => typeof one !== 'function')) {
    throw new ConfigurationError(
      "This environment has no `fetch`, `Request` or `Headers`. In Jest use the environment 'node' (or 'jest-fixed-jsdom'), elsewhere a polyfill.",
      { code: 'FETCH_MISSING' },
    );
  }
  if (!isStandardRequest()) {
    throw new ConfigurationError(
      'The global `Request` is not the one of the web standard; node-fetch may have replaced it. Do not replace the globals. Pass another `fetch` as the option `fetch`.',
      { code: 'FETCH_MISSING' },
    );
  }
}

let lastRequest: { readonly Request: unknown; readonly isStandard: boolean } | undefined;

/** Is the global `Request` the one of the web standard? The test runs once for each `Request`. */
function isStandardRequest(): boolean {
  const { Request } = globalThis;
  if (lastRequest?.Request !== Request) {
    // The body of node-fetch's `Request` is a Node stream. Firefox's has no body.
    const { body } = new Request('http://localhost', { method: 'POST', body: '-' });
    lastRequest = { Request, isStandard: !body || typeof body.getReader === 'function' };
  }
  return lastRequest.isStandard;
}

// A getter or a `toJSON` of the caller may throw anything.
function toCallError(error: unknown, where: { method: string; path: string }): unknown {
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

function hasSession({ key, path }: Route, { service }: Settings): boolean {
  const { session } = service;
  return key === 'secret-or-session' || (session !== undefined && path.startsWith(session.prefix));
}

// Copies the body, so that the checked and the sent body are the same, even if the caller changes the
// original.
function bodyOf(route: Route, body: unknown): unknown {
  if (route.upload || body === undefined || isForm(body)) {
    return body;
  }
  const wire = toJsonValue(body);
  if (isRecord(wire)) {
    return route.normalize ? route.normalize(wire) : wire;
  }
  if (route.isUntyped) {
    return wire;
  }
  throw invalidRequest([
    { field: '', message: `pass its fields as one object; got ${kindOf(body)}` },
  ]);
}

// `list('ann')` would list everything.
function queryOf(query: object | undefined): object | undefined {
  if (query === undefined || isRecord(query)) {
    return query && { ...query };
  }
  throw invalidRequest([
    { field: '', message: `pass the query as an object; got ${kindOf(query)}` },
  ]);
}

function contentOf(route: Route, body: unknown): string | MultipartBody | undefined {
  if (route.upload) {
    return route.upload.form(body as FileInput, route.upload); // as: upload rows take files
  }
  if (isForm(body)) {
    return encodeForm(body);
  }
  return body === undefined ? undefined : encodeJson(body, route.maxBodyBytes);
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Builds the row and the query of a call to an endpoint that no row describes. The new row needs a secret key,
 * or none if the client has none. The call may be repeated, unless it is a POST.
 */
export function buildFreeRoute(
  method: Method,
  given: string,
  query: FreeInput['query'],
  hasKey: boolean,
): [Route, FreeInput['query']] {
  // Moves the query of a path to the other query parameters, so that no error, event or log shows it.
  const start = given.indexOf('?');
  const path = start < 0 ? given : given.slice(0, start);
  const search = new URLSearchParams(start < 0 ? '' : given.slice(start));
  const inPath = [...new Set(search.keys())].map((name) => [name, search.getAll(name)] as const);
  if (!methods.includes(method)) {
    throw invalidRequest([{ field: 'method', message: `must be one of ${methods.join(', ')}` }]);
  }
  if (!path.startsWith('/') || /[\\#{}]|(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path)) {
    const message = 'must start with a slash, without `..`, `#`, `\\` and braces';
    throw invalidRequest([{ field: 'path', message }]);
  }
  const line = `${method} ${path as `/${string}`}` as const; // checked above
  const row = route(line, {
    returns: ofType<unknown>(),
    key: hasKey ? 'secret' : 'none',
    takesOnce: false,
    isUntyped: true,
  });
  return [row, inPath.length === 0 ? query : { ...Object.fromEntries(inPath), ...query }];
}

/** Puts the parameters into a path such as `/contacts/{id}`, each as one encoded segment. */
function fillPath(
  template: string,
  parameters: Readonly<Record<string, unknown>> | undefined,
): string {
  if (!template.includes('{')) {
    return template;
  }
  return template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeSegment(name, parameters?.[name]),
  );
}

/** A query string with its question mark, or an empty text. `undefined` and `null` are left out. */
function encodeQuery(query: object | undefined): string {
  if (!query) {
    return '';
  }
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, unknown][]) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (one !== undefined && one !== null) {
        search.append(name, encodeQueryValue(name, one));
      }
    }
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

function encodeSegment(name: string, value: unknown): string {
  if (typeof value !== 'string') {
    throw invalidRequest([
      { field: name, message: `must be a string; got ${kindOf(value)}${idHint(value)}` },
    ]);
  }
  // An empty or dotted segment would reach another endpoint: `/contacts/..` is `/`.
  if (value === '' || value === '.' || value === '..') {
    throw invalidRequest([
      { field: name, message: `must not be ${value === '' ? 'empty' : `"${value}"`}` },
    ]);
  }
  try {
    return encodeURIComponent(value);
  } catch {
    throw invalidRequest([{ field: name, message: 'contains an unpaired surrogate' }]);
  }
}

// The hint for a caller who passed a whole record instead of its id.
function idHint(value: unknown): string {
  return isRecord(value) && 'id' in value ? ': pass its `id`' : '';
}

function encodeQueryValue(name: string, value: unknown): string {
  if (isDate(value)) {
    if (Number.isNaN(value.getTime())) {
      throw invalidRequest([{ field: name, message: 'is not a date' }]);
    }
    return value.toISOString();
  }
  if (typeof value === 'string') {
    return value;
  }
  // Rejects an options object that was passed as the query; it would be sent otherwise.
  if (typeof value === 'object') {
    throw invalidRequest([
      { field: name, message: 'must be a string, a number, a boolean or a date' },
    ]);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw invalidRequest([{ field: name, message: `must be a number; got ${value}` }]);
  }
  return JSON.stringify(value);
}
