import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  UnexpectedResponseError,
  UnprocessableError,
  type ErrorDetails,
  type FieldError,
  type PostreelError,
} from '../errors.js';
import { readList } from '../list/list.js';
import { outcomeOf } from './outcome.js';
import { redact, type Secrets } from './redact.js';
import type { PreparedCall } from './request.js';
import { retryAfterMs } from './retry-after.js';
import { isBytes, isRecord } from '../values.js';

/** A response with its text, and the key of its request. */
export interface ReceivedResponse {
  readonly response: Response;
  readonly text: string;
  /** The key of the request: no text about the response may repeat it. */
  readonly key: string | null;
  /** The source of the key, e.g. `MESSAGING_API_KEY`. */
  readonly keyOrigin: string;
}

/** Returns the JSON of a successful response; throws an error for any other response. */
export function readAnswer(received: ReceivedResponse, call: PreparedCall): unknown {
  const { response, text } = received;
  const { status } = response;
  // A `fetch` that follows redirects turns a POST into a GET: that response does not belong to the call.
  const isRedirect = response.redirected || response.type === 'opaqueredirect';
  if (isRedirect || (status >= 300 && status < 400)) {
    throw redirectError(received, call);
  }
  let body: unknown;
  try {
    body = text.trim() === '' ? undefined : (JSON.parse(text) as unknown);
  } catch {
    if (response.ok) {
      throw /^\s*[[{"]/.test(text) ? cutShortError(call) : notJsonError(received, call);
    }
  }
  // Some runtimes take a truncated compressed body for an empty one.
  if (response.ok && body === undefined && response.headers.has('content-encoding')) {
    throw cutShortError(call);
  }
  // An error response may still hold the ids of what the call created.
  if (body !== undefined && call.route.isAccepted?.(body)) {
    return body;
  }
  if (!response.ok) {
    throw apiError(received, call, status);
  }
  if (isRecord(body) && body['success'] === false) {
    // An error with HTTP 200 may state its real status in the body. If the body has no status, the
    // error counts as a 400, so the call had no effect. A call for several emails or jobs may have been processed
    // in part: its outcome is then unknown.
    const { statusCode } = isRecord(body['error']) ? body['error'] : {};
    const unstated = call.isPartial(undefined) ? undefined : 400;
    throw apiError(received, call, typeof statusCode === 'number' ? statusCode : unstated);
  }
  return body;
}

/**
 * The result of a call. An empty response, `true` and `{ success: true }` are valid: they result in an empty
 * record.
 */
export function resultOf({ route, path, state }: PreparedCall, body: unknown): unknown {
  const { returns, method } = route;
  if (returns.list === undefined) {
    const result = unwrap(body);
    const isEmpty = result === undefined || result === null || result === true;
    const record = isEmpty ? (returns.isNothing ? undefined : {}) : result;
    return returns.lists && isRecord(record) ? addMissingLists(record, returns.lists) : record;
  }
  const page = readList(body, returns);
  if (page) {
    return page;
  }
  state.outcome = 'rejected';
  throw new UnexpectedResponseError(`${method} ${path}: the response contains no list.`, {
    code: 'UNEXPECTED_RESPONSE',
    outcome: 'rejected',
    method,
    path,
  });
}

function addMissingLists(record: object, names: readonly string[]): object {
  return { ...Object.fromEntries(names.map((name) => [name, []])), ...record };
}

/**
 * Takes the result out of `{ success: true, data }`, on any endpoint, because the response for campaigns
 * shows that the service does not follow its own list of endpoints. Both fields must be present, because a
 * contact also has a `data` field.
 */
function unwrap(body: unknown): unknown {
  const isEnvelope = isRecord(body) && body['success'] === true && Object.hasOwn(body, 'data');
  return isEnvelope ? body['data'] : body;
}

const maxIdLength = 200;

/** The service's request id, from either of the headers that services use. */
export function requestIdOf(
  { headers }: Response,
  call: PreparedCall,
  key: string | null,
): string | undefined {
  const id = headers.get('x-request-id') ?? headers.get('request-id');
  return id === null ? undefined : redact(id, secretsOf(call, key)).slice(0, maxIdLength);
}

/** The sentence that an error adds for a call that may have taken effect. */
export function effectHint({ changes }: PreparedCall): string {
  return changes ? ' It may have taken effect.' : '';
}

const secretNames = /key|token|secret|password|passwd|authorization|cookie|session/i;

/** The secrets of a call, which no text about it may repeat. */
export function secretsOf({ request, body }: PreparedCall, key: string | null): Secrets {
  const headers = Object.entries(request.headers).filter(([name]) => secretNames.test(name));
  const cookies = (request.headers['cookie'] ?? '').split(/; ?/);
  return [
    key,
    ...headers.map(([, value]) => value),
    ...cookies.map((cookie) => cookie.slice(cookie.indexOf('=') + 1)),
    ...secretsIn(body, 0),
  ];
}

function secretsIn(body: unknown, depth: number): string[] {
  // A file has no named fields, and each of its bytes would be an entry.
  if (typeof body !== 'object' || body === null || isBytes(body) || depth > 4) {
    return [];
  }
  return Object.entries(body).flatMap(([name, value]) =>
    typeof value === 'string' && secretNames.test(name) ? [value] : secretsIn(value, depth + 1),
  );
}

// ---- errors of the service

const classes: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableError,
  429: RateLimitError,
};

/** The error of a rejected call. `outcomeStatus` is the status that decides the outcome. */
function apiError(
  { response, text, key, keyOrigin }: ReceivedResponse,
  call: PreparedCall,
  outcomeStatus: number | undefined,
): ApiError {
  const { status, headers } = response;
  const { method, path } = call;
  const secrets = secretsOf(call, key);
  const parsed = readError(text, (words) => redact(words, secrets));
  const requestId = parsed.requestId ?? requestIdOf(response, call, key);
  const details: ErrorDetails = {
    ...parsed,
    method,
    path,
    status,
    requestId,
    code: parsed.code ?? `HTTP_${status}`,
    retryAfterMs: response.ok ? undefined : retryAfterMs(headers, status),
    outcome: outcomeOf({ phase: 'answered', status: outcomeStatus }, call),
  };
  const verb = status >= 500 || status === 408 ? 'failed' : 'was rejected';
  const code = parsed.code === undefined ? '' : ` ${trim(parsed.code, 60)}`;
  const id = requestId === undefined ? '' : ` Request id ${trim(requestId, 60)}.`;
  const line = `${method} ${path} ${verb} (${status}${code})${reasonOf(parsed)}.${id}`;
  const ErrorClass = classes[status] ?? (status >= 500 ? ServerError : ApiError);
  return new ErrorClass(line + hintFor(status, call, key, keyOrigin), details);
}

// A hint at what the caller may have got wrong.
function hintFor(
  status: number,
  { request, path, baseUrlName }: PreparedCall,
  key: string | null,
  keyOrigin: string,
): string {
  if (status === 401 && key !== null) {
    const [prefix = ''] = /^[a-z]+_/.exec(key) ?? [];
    return ` The key${prefix && ` (${prefix}…)`} came from ${keyOrigin}.`;
  }
  // Some paths of the messaging service begin with `/v1`.
  const [address = ''] = request.url.split(/[?#]/, 1);
  return status === 404 && address.endsWith(`/v1${path}`)
    ? ` ${baseUrlName} ends in \`/v1\`: leave that out, unless the service is below that path.`
    : '';
}

// The service's message, then the first field error: they complement each other, unless they are the same sentence.
function reasonOf({ fieldErrors = [], message }: ErrorBody): string {
  const [first] = fieldErrors;
  const more = fieldErrors.length > 1 ? ` (and ${fieldErrors.length - 1} more)` : '';
  const rule = first && `: ${ruleOf(first)}${more}`;
  const isRepeated = message === undefined || (first && trim(first.message) === trim(message));
  return `${isRepeated ? '' : `: ${trim(message)}`}${rule ?? ''}`;
}

function ruleOf({ field, message }: FieldError): string {
  const rule = trim(message);
  const start = rule.replace(/^[`'"]/, '');
  if (field === '' || (start.startsWith(field) && !/^\w/.test(start.slice(field.length)))) {
    return rule; // the service has named the field
  }
  return `\`${trim(field, 60)}\`${/^[A-Z]/.test(rule) ? ':' : ''} ${rule}`;
}

// Reduces a text to one line without control characters, because messages end up in logs and terminals.
function trim(text: string, longest = 200): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const short = line.length > longest ? `${line.slice(0, longest)}…` : line;
  return short.replace(/\.$/, '');
}

function redirectError(received: ReceivedResponse, call: PreparedCall): PostreelError {
  const { response, key } = received;
  const line = `${call.method} ${call.path}`;
  if (response.redirected) {
    const message = `${line} was redirected, and \`fetch\` followed the redirect although the client forbids it. Pass a \`fetch\` that honours \`redirect: 'manual'\`, or set ${call.baseUrlName} to the final address.`;
    return unexpectedResponseError(message + effectHint(call), received, call, undefined);
  }
  const target = response.headers.get('location');
  const origin = target && (URL.canParse(target) ? new URL(target).origin : 'another path');
  const where = origin ? ` to ${redact(origin, secretsOf(call, key)).slice(0, 60)}` : '';
  const message = `${line} was answered with a redirect${where}, which is not followed. Set ${call.baseUrlName} to the service's own address.`;
  return unexpectedResponseError(message, received, call, response.status);
}

function cutShortError(call: PreparedCall): PostreelError {
  const { method, path, request } = call;
  const { host } = new URL(request.url);
  const outcome = outcomeOf({ phase: 'no-answer', url: request.url }, call);
  const message = `${method} ${path} lost the connection to ${host} before the response was complete.`;
  const details = { method, path, code: 'CONNECTION_LOST', outcome } as const;
  return new ConnectionError(message + effectHint(call), details);
}

// The error of JSON.parse() quotes the text, so it must not become the cause.
function notJsonError(received: ReceivedResponse, call: PreparedCall): PostreelError {
  const { response, key } = received;
  const header = response.headers.get('content-type') ?? 'no content type';
  const type = redact(header, secretsOf(call, key)).slice(0, 60);
  const message = `${call.method} ${call.path} was answered with something that is not JSON (${response.status}, ${type}).`;
  return unexpectedResponseError(message + effectHint(call), received, call, undefined);
}

function unexpectedResponseError(
  message: string,
  { response, text, key }: ReceivedResponse,
  call: PreparedCall,
  outcomeStatus: number | undefined,
): UnexpectedResponseError {
  const secrets = secretsOf(call, key);
  return new UnexpectedResponseError(message, {
    method: call.method,
    path: call.path,
    code: 'UNEXPECTED_RESPONSE',
    status: response.status,
    requestId: requestIdOf(response, call, key),
    outcome: outcomeOf({ phase: 'answered', status: outcomeStatus }, call),
    body: readError(text, (words) => redact(words, secrets)).body,
  });
}

// ---- bodies of errors

/** The content of an error response. */
interface ErrorBody extends ErrorDetails {
  readonly message?: string | undefined;
}

const maxTextLength = 1000;
const maxFieldErrors = 100;

/**
 * Reads the body of an error: the documented envelope, the other documented form `{ code, error, message,
 * time }`, `{ error: 'text' }`, or plain text. The error's `body` is a copy of the whole body.
 */
function readError(text: string, clean: (text: string) => string): ErrorBody {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    const plain = clean(text.trim()).slice(0, 4 * maxTextLength);
    // An HTML page of a gateway, or half of a JSON text, is not a message.
    const isSentence = plain !== '' && !/^[<{[]/.test(plain);
    const message = isSentence ? plain.slice(0, maxTextLength) : undefined;
    return { message, body: plain === '' ? undefined : plain };
  }
  // Clean after parsing: escapes in the JSON would hide a key.
  const cleanText = (value: unknown) =>
    typeof value === 'string' && value !== '' ? clean(value).slice(0, maxTextLength) : undefined;
  const copy = copyOf(body, clean, { left: 1000 });
  if (!isRecord(body)) {
    return { message: cleanText(body), body: copy };
  }
  const inner = isRecord(body['error']) ? body['error'] : body;
  const errorText = cleanText(body['error']);
  const message = cleanText(inner['message']);
  return {
    code: codeOf(cleanText(inner['code'])) ?? codeOf(message && errorText),
    message: message ?? errorText,
    requestId: cleanText(inner['requestId']),
    suggestion: cleanText(inner['suggestion']),
    timestamp: cleanText(body['timestamp']),
    fieldErrors: fieldErrorsOf(inner['errors'], cleanText),
    body: copy,
  };
}

// A sentence where a code is expected may contain private data, such as an address.
function codeOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[a-z][\w.:/-]{0,63}$/i.test(text) ? text : undefined;
}

function fieldErrorsOf(
  list: unknown,
  cleanText: (value: unknown) => string | undefined,
): readonly FieldError[] {
  const entries = Array.isArray(list) ? list.filter(isRecord).slice(0, maxFieldErrors) : [];
  return entries.map((entry) => {
    const code = cleanText(entry['code']);
    const [field = '', message = 'is not valid'] = [
      cleanText(entry['field']),
      cleanText(entry['message']),
    ];
    return { field, message, ...(code !== undefined && { code }) };
  });
}

// Clean field names too: a service may echo the request.
function copyOf(
  value: unknown,
  clean: (text: string) => string,
  budget: { left: number },
  depth = 0,
): unknown {
  if (typeof value === 'string') {
    return clean(value).slice(0, maxTextLength);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (depth >= 10) {
    return '…';
  }
  const entries: [string, unknown][] = Object.entries(value).slice(0, Math.max(0, budget.left));
  budget.left -= entries.length;
  const copies = entries.map(([name, item]): [string, unknown] => [
    clean(name),
    copyOf(item, clean, budget, depth + 1),
  ]);
  return Array.isArray(value) ? copies.map(([, item]) => item) : Object.fromEntries(copies);
}
