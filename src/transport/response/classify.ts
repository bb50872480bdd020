import { isRecord } from '../../contract/records.js';
import type { Route } from '../../contract/route.js';
import {
  ConnectionError,
  TimeoutError,
  UnexpectedResponseError,
  type Outcome,
  type PostreelError,
} from '../../errors/index.js';
import { saysNo } from './envelope.js';
import { apiError } from './api-error.js';
import { neverLeft } from './network-error.js';
import { redact } from '../auth/redact.js';
import { retryAfterMs } from './retry-after.js';

const longestId = 200;
const longestName = 60;

/** What an attempt was about, for its errors. */
export interface Facts {
  readonly route: Route;
  readonly path: string;
  /** Does the service work through this request one entry after another? */
  readonly isPartial: boolean;
}

/** An answer as it came over the wire. */
export interface Received {
  readonly response: Response;
  readonly text: string;
  /** The key that the request carried: no text of the answer may repeat it. */
  readonly key: string | null;
}

/** The JSON of an answer that says yes; throws the error of any other. */
export function judge(received: Received, facts: Facts): unknown {
  const { response, text, key } = received;
  if (isRedirect(response)) {
    throw redirected(received, facts);
  }
  const requestId = requestIdOf(response.headers, key);
  const clean = (words: string) => redact(words, key);
  if (!response.ok) {
    const askedMs = retryAfterMs(response.headers);
    const outcome = outcomeOf(response.status, facts);
    throw apiError(callOf(facts), response.status, text, {
      outcome,
      requestId,
      retryAfterMs: askedMs,
      clean,
    });
  }
  const body = parse(received, facts);
  if (saysNo(body)) {
    const no = { outcome: noOutcome(body, facts), requestId, retryAfterMs: undefined, clean };
    throw apiError(callOf(facts), response.status, text, no);
  }
  return body;
}

/** The error of an attempt that got no answer: the connection failed, or the time was up. */
export function connectionError(fault: unknown, facts: Facts): ConnectionError {
  const never = neverLeft(fault);
  const what = never
    ? 'could not reach the service'
    : 'lost the connection before the answer was complete';
  return new ConnectionError(`${line(facts)} ${what}.${never ? '' : hint(facts)}`, {
    ...callOf(facts),
    code: never ? 'NOT_CONNECTED' : 'CONNECTION_LOST',
    outcome: never ? 'not-sent' : 'unknown',
    cause: fault,
  });
}

/** The error of an attempt whose time was up while it was under way. */
export function timeoutError(limitMs: number, facts: Facts, isDeadline: boolean): TimeoutError {
  const name = isDeadline ? 'deadline' : 'timeout';
  return new TimeoutError(
    `${line(facts)} got no complete answer within ${Math.ceil(limitMs)} ms.${hint(facts)}`,
    {
      ...callOf(facts),
      code: name === 'deadline' ? 'DEADLINE_EXCEEDED' : 'TIMEOUT',
      outcome: 'unknown',
    },
  );
}

/** The service's id of a request, under the names that services use. */
export function requestIdOf(headers: Headers, key: string | null): string | undefined {
  const id = headers.get('x-request-id') ?? headers.get('request-id');
  return id === null ? undefined : redact(id, key).slice(0, longestId);
}

// 408 and 5xx say nothing about the effect; a 429 in the middle of several recipients neither.
function outcomeOf(status: number, { route, isPartial }: Facts): Outcome {
  if (!route.changes) {
    return 'rejected';
  }
  if (status === 408 || status >= 500) {
    return 'unknown';
  }
  return status === 429 && isPartial ? 'unknown' : 'rejected';
}

// A no with HTTP 200 tells its real status in the body, if at all.
function noOutcome(body: unknown, facts: Facts): Outcome {
  const error = isRecord(body) ? body['error'] : undefined;
  const status = isRecord(error) ? error['statusCode'] : undefined;
  if (typeof status === 'number') {
    return outcomeOf(status, facts);
  }
  return facts.isPartial ? 'unknown' : 'rejected';
}

// What JSON.parse() throws quotes the text, so it must not become the cause.
function parse(received: Received, facts: Facts): unknown {
  const { response, text, key } = received;
  if (text.trim() === '') {
    return undefined;
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const header = response.headers.get('content-type');
    const type = header === null ? 'no content type' : redact(header, key).slice(0, longestName);
    const message = `${line(facts)} was answered with something that is not JSON (${response.status}, ${type}).`;
    throw unexpected(message + hint(facts), facts, received);
  }
}

function redirected(received: Received, facts: Facts): PostreelError {
  const { response, key } = received;
  const target = response.headers.get('location');
  const where = target === null ? '' : ` to ${redact(originOf(target), key).slice(0, longestName)}`;
  const message = `${line(facts)} was answered with a redirect${where}, which is not followed. Set \`baseUrl\` to the service's own address.`;
  return unexpected(message, facts, received, redirectOutcome(response.status, facts));
}

// 302 and 303 are also what a form answers once it has done its work; a browser hides which it was.
function redirectOutcome(status: number, { route }: Facts): Outcome {
  const mayBeDone = status === 0 || status === 302 || status === 303;
  return route.changes && mayBeDone ? 'unknown' : 'rejected';
}

function originOf(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : 'another path';
}

function unexpected(
  message: string,
  facts: Facts,
  { response, key }: Received,
  outcome: Outcome = facts.route.changes ? 'unknown' : 'rejected',
): UnexpectedResponseError {
  return new UnexpectedResponseError(message, {
    ...callOf(facts),
    code: 'UNEXPECTED_RESPONSE',
    status: response.status,
    requestId: requestIdOf(response.headers, key),
    outcome,
  });
}

function isRedirect(response: Response): boolean {
  return response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400);
}

function hint({ route }: Facts): string {
  return route.changes ? ' It may have taken effect.' : '';
}

function line({ route, path }: Facts): string {
  return `${route.method} ${path}`;
}

function callOf({ route, path }: Facts): { method: string; path: string } {
  return { method: route.method, path };
}
