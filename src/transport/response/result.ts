import { UnexpectedResponseError } from '../../errors/index.js';
import { readList } from '../../pagination/styles.js';
import type { CallContext } from '../context.js';
import { unwrap } from './read.js';

/**
 * What a call resolves to. An empty answer, `true` and `{ success: true }` are answers too: an empty
 * record stands for them.
 */
export function resultOf({ route, path, state }: CallContext, body: unknown): unknown {
  if (route.returns.list === undefined) {
    const result = unwrap(body);
    if (result !== undefined && result !== null && result !== true) {
      return result;
    }
    return route.returns.isNothing ? undefined : {};
  }
  const page = readList(body, route.returns);
  if (page) {
    return page;
  }
  const { method } = route;
  state.outcome = 'rejected';
  throw new UnexpectedResponseError(`${method} ${path} was answered without a list in it.`, {
    code: 'UNEXPECTED_RESPONSE',
    outcome: 'rejected',
    method,
    path,
  });
}
