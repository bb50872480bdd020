import type { Attributes } from '@opentelemetry/api';
import type { CallStartEvent } from '../core/types.js';
import { jobStage, statusWord } from '../core/wait.js';
import { isApiError, isPostreelError } from '../core/errors.js';

/** What names a span: of a path only its pattern, since its values may be email addresses. */
type Named = Pick<CallStartEvent, 'method' | 'route'> & { readonly callId: number };

/** `GET /contacts/{id}`; only the method where the path has no pattern. */
export function spanName({ method, route }: Named): string {
  return route === undefined ? method : `${method} ${route}`;
}

/** What the semantic conventions for HTTP clients say about a request. */
export function requestAttributes({ method, route, baseUrl }: CallStartEvent): Attributes {
  const { protocol, hostname, port, origin, pathname } = new URL(baseUrl);
  const usualPort = protocol === 'https:' ? 443 : 80;
  const base = origin + pathname.replace(/\/$/, '');
  const path = route?.replace(/\{[^}]*\}/g, 'REDACTED') ?? '/REDACTED';
  return {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': port === '' ? usualPort : Number(port),
    'url.full': base + path,
    ...(route === undefined ? undefined : { 'url.template': route }),
  };
}

/** The attribute that says what kind of error it was. */
export function errorAttribute(type: string): Attributes {
  return { 'error.type': type };
}

// The only code that the service's document names.
const documented = 'VALIDATION_ERROR';

/** What kind of failure ended a call: few different words, whatever the service calls its errors. */
export function errorTypeOf(error: unknown): string {
  // A call that was never sent has no status, but a code of ours.
  if (isApiError(error) && error.status !== undefined && error.code !== documented) {
    return `HTTP_${error.status}`;
  }
  return isPostreelError(error) ? error.code : '_OTHER';
}

/** A job's status in one of few words: a service may put a sentence there. */
export function statusAttribute(status: unknown): string {
  const word = statusWord({ status });
  const isKnown = word === 'queued' || word === 'processing' || jobStage(word) !== 'active';
  return isKnown ? word : '_OTHER';
}
