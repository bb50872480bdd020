import type { Ids, IdStyle } from '../core/ids.js';
import type { FakeRequest } from '../core/types.js';
import { mapJson } from './json.js';

/** A request in which every id is the world's own. */
export function withOwnIds(request: FakeRequest, ids: Ids, style: IdStyle): FakeRequest {
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
