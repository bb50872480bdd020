import { of } from '../contract/returns.js';
import { route, type Method, type Route } from '../contract/route.js';
import { refuse } from './refuse.js';

/** What a call to an endpoint without a method of its own sends. */
export interface FreeInput {
  query?: Readonly<Record<string, unknown>> | undefined;
  /** Sent as JSON. */
  body?: unknown;
}

/** A row for an endpoint that has none: a secret key, and repeated as HTTP defines its method. */
export function freeRoute(method: Method, path: string, hasKey: boolean): Route {
  if (!path.startsWith('/') || /[\\#{}]|(^|\/)\.{1,2}(\/|$)/.test(path)) {
    const message = 'must start with a slash and name one place below the base address';
    throw refuse([{ field: 'path', message }]);
  }
  return route(`${method} ${path as `/${string}`}`, {
    // checked above
    returns: of<unknown>(),
    key: hasKey ? 'secret' : 'none',
    repeatable: method !== 'POST' && method !== 'PATCH',
  });
}
