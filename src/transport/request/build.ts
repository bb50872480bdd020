import type { FileInput } from '../../contract/records.js';
import type { Route } from '../../contract/route.js';
import { isBrowser } from '../auth/api-key.js';
import { jsonBody, multipartBody } from './body.js';
import type { OutgoingRequest } from '../send/http.js';
import { refuse } from '../../errors/client-errors.js';
import type { Session } from '../auth/session.js';
import type { Settings } from '../settings.js';
import { queryString } from './url.js';

/** What a request is built from. */
export interface Blueprint {
  readonly route: Route;
  readonly path: string;
  readonly query: object | undefined;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Must every answer come fresh from the service? */
  readonly isPoll: boolean;
}

/** Builds what every attempt of a call sends; only the key is added later. */
export function build(blueprint: Blueprint, settings: Settings, session: Session): OutgoingRequest {
  const { route, path, query, body, isPoll } = blueprint;
  const content = contentOf(route, body);
  const headers: Record<string, string> = { ...ownHeaders(settings.headers, blueprint.headers) };
  // The type of a form names its boundary: it is left to `fetch`.
  if (typeof content === 'string' || (settings.service.alwaysJson && content === undefined)) {
    headers['content-type'] = 'application/json';
  }
  const isAccount = isAccountRoute(route);
  const cookie = isAccount ? session.header() : undefined;
  if (cookie !== undefined) {
    headers['cookie'] = cookie;
  }
  return {
    method: route.method,
    url: settings.baseUrl + path + queryString(query),
    headers,
    ...(content !== undefined && { body: content }),
    ...(isPoll && { cache: 'no-store' }),
    // In a browser the cookie is the browser's; elsewhere it would be sent to nobody.
    ...(isAccount && isBrowser() && { credentials: 'include' }),
  };
}

/** Does this route take part in the session of `auth.login()`? */
export function isAccountRoute(route: Route): boolean {
  return route.key === 'secret-or-session' || route.path.startsWith('/auth/');
}

function contentOf(route: Route, body: unknown): string | FormData | undefined {
  if (route.upload) {
    return multipartBody(body as FileInput, route.upload);
  } // upload rows take files
  if (body === undefined || body instanceof FormData) {
    return body;
  }
  return jsonBody(body, route.maxBodyBytes);
}

function ownHeaders(
  ...sources: (Readonly<Record<string, string>> | undefined)[]
): Record<string, string> {
  const reserved = new Set(['authorization', 'content-type', 'cookie']);
  const entries = sources.flatMap((source) => Object.entries(source ?? {}));
  return Object.fromEntries(
    entries
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !reserved.has(name))
      .map(([name, value]) => [name, sendable(name, value)]),
  );
}

// `fetch` would refuse it with the value in its message, as if the connection had failed.
function sendable(name: string, value: string): string {
  try {
    new Headers([[name, value]]);
    return value;
  } catch {
    const message = 'is not a header that can be sent: use ASCII text without line breaks';
    throw refuse([{ field: `headers.${name}`, message }]);
  }
}
