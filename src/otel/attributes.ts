import type { Attributes } from '@opentelemetry/api';
import type { CallStartEvent } from '../core/types.js';
import { stageOf, statusWordOf } from '../core/job-status.js';
import { isApiError, isPostreelError } from '../core/errors.js';

/** The parts of a span's name: the pattern of a path, not its values, which may be email addresses. */
type SpanParts = Pick<CallStartEvent, 'method' | 'route'> & { readonly callId: number };

/** The name of a span, such as `GET /contacts/{id}`; only the method if the path has no pattern. */
export function spanNameOf({ method, route }: SpanParts): string {
  return route === undefined ? method : `${method} ${route}`;
}

/** The attributes of a request, by the semantic conventions for HTTP clients. */
export function requestAttributesOf({ method, route, baseUrl }: CallStartEvent): Attributes {
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

/** The attribute for the type of an error. */
export function errorAttributeOf(type: string): Attributes {
  return { 'error.type': type };
}

// The only code that the service's document names.
const documented = 'VALIDATION_ERROR';

/**
 * The type of the error that ended a call: one of a few fixed values, whatever the service calls its errors.
 */
export function errorTypeOf(error: unknown): string {
  // A call that was never sent has no status, only an error code of this package.
  if (isApiError(error) && error.status !== undefined && error.code !== documented) {
    return `HTTP_${error.status}`;
  }
  return isPostreelError(error) ? error.code : '_OTHER';
}

/** A job's status as one of a few fixed values: a service may return a sentence there. */
export function statusAttributeOf(status: unknown): string {
  const word = statusWordOf({ status });
  const isKnown = word === 'queued' || word === 'processing' || stageOf(word) !== 'active';
  return isKnown ? word : '_OTHER';
}
