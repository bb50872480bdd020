import { isBytes } from '../../contract/records.js';
import type { CallContext } from '../context.js';
import type { Secrets } from './redact.js';

const secretNames = /key|token|secret|password|passwd|authorization|cookie|session/i;
const maxDepth = 4;

/** Everything that a call carries and that no text about it may repeat. */
export function secretsOf({ request, input }: CallContext, key: string | null): Secrets {
  const headers = Object.entries(request.headers).filter(([name]) => secretNames.test(name));
  const cookies = (request.headers['cookie'] ?? '').split(/; ?/);
  return [
    key,
    ...headers.map(([, value]) => value),
    ...cookies.map((cookie) => cookie.slice(cookie.indexOf('=') + 1)),
    ...secretsIn(input.body, 0),
  ];
}

function secretsIn(body: unknown, depth: number): string[] {
  // A file has no names, but each of its bytes would be an entry.
  if (typeof body !== 'object' || body === null || isBytes(body) || depth > maxDepth) {
    return [];
  }
  return Object.entries(body).flatMap(([name, value]) =>
    typeof value === 'string' && secretNames.test(name) ? [value] : secretsIn(value, depth + 1),
  );
}
