import { of, route, type Method, type Route } from '../../contract/route.js';
import { invalidRequest } from '../../errors/client-errors.js';

/** What a call to an endpoint without a method of its own sends. */
export interface FreeInput {
  query?: Readonly<Record<string, unknown>> | undefined;
  /** Sent as JSON, a `FormData` as it is. */
  body?: unknown;
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The query of a path goes where queries go, so that no error, event or log shows it. */
export function splitPath(path: string, query: FreeInput['query']): [string, FreeInput['query']] {
  const start = path.indexOf('?');
  if (start < 0) {
    return [path, query];
  }
  const search = new URLSearchParams(path.slice(start));
  const inPath = [...new Set(search.keys())].map((name) => [name, search.getAll(name)] as const);
  return [path.slice(0, start), { ...Object.fromEntries(inPath), ...query }];
}

/** A row for an endpoint that has none: a secret key, and repeated as HTTP defines its method. */
export function freeRoute(method: Method, path: string, hasKey: boolean): Route {
  if (!methods.includes(method)) {
    throw invalidRequest([{ field: 'method', message: `must be one of ${methods.join(', ')}` }]);
  }
  if (!path.startsWith('/') || /[\\#{}]|(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path)) {
    const message = 'must start with a slash and name one place below the base address';
    throw invalidRequest([{ field: 'path', message }]);
  }
  return route(`${method} ${path as `/${string}`}`, {
    // checked above
    returns: of<unknown>(),
    key: hasKey ? 'secret' : 'none',
    repeatable: method !== 'POST' && method !== 'PATCH',
  });
}
