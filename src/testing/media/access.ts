import { Refusal } from '../core/http/refusal.js';
import type { FakeRequest } from '../core/types.js';
import { refuse } from './generate/rules.js';
import type { MediaWorld } from './world.js';

/** Lets a request in, or refuses it: 401 without a valid key. */
export function enter(world: MediaWorld, request: FakeRequest): MediaWorld {
  // media, Authentication 1 and 3: every call, status included, sends the key.
  if (!world.apiKeys.has(keyOf(request) ?? '')) {
    throw new Refusal(401, 'UNAUTHORIZED', 'Missing or invalid API key.');
  }
  // media, Endpoints: all requests send `Content-Type: application/json`.
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    refuse('Content-Type must be application/json.');
  }
  return world;
}

/** The key of a request, as sent. */
export function keyOf({ headers }: FakeRequest): string | undefined {
  return /^Bearer (\S+)$/.exec(headers.get('authorization') ?? '')?.[1];
}
