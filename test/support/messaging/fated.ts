import type { MessagingClient, MessagingOptions } from 'postreel';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { messagingOver } from '../clients.js';

/** What happens to a request: it arrives or not, and so does its answer. */
export const fates = [
  'ok',
  'lost',
  'refused',
  'failed',
  'unconnected',
  'wrong key',
  'abort before',
  'abort after',
] as const;
export type Fate = (typeof fates)[number];

export interface Fated {
  readonly fake: FakeMessaging;
  readonly messaging: MessagingClient;
  readonly controller: AbortController;
}

/** A client of a fake whose requests have fates, the first one's first; then all go well. */
export function fated(plan: readonly Fate[], options: MessagingOptions = {}): Fated {
  const fake = createFakeMessaging({
    clock: { mode: 'real', speed: 1000 },
    jobs: { perSecond: 1e6 },
  });
  const { secretKey: apiKey, baseUrl } = fake;
  const controller = new AbortController();
  let requests = 0;
  const fetch: typeof fake.fetch = (input, init) => {
    const fate = plan[requests++] ?? 'ok';
    return answerOf(fate, () => fake.fetch(input, init), { controller, signal: init?.signal });
  };
  const messaging = messagingOver(fetch, { apiKey, baseUrl, retries: 0, ...options });
  return { fake, messaging, controller };
}

async function answerOf(
  fate: Fate,
  act: () => Promise<Response>,
  { controller, signal }: { controller: AbortController; signal: AbortSignal | null | undefined },
): Promise<Response> {
  const statuses: Partial<Record<Fate, number>> = { refused: 400, 'wrong key': 401, failed: 500 };
  const status = statuses[fate];
  if (status !== undefined) {
    return Response.json({ error: 'no' }, { status });
  }
  if (fate === 'unconnected') {
    const cause = Object.assign(new Error(), { code: 'ECONNREFUSED' });
    throw new TypeError('fetch failed', { cause });
  }
  if (fate === 'abort before') {
    controller.abort(new Error('enough'));
    signal?.throwIfAborted();
  }
  const answer = await act();
  if (fate === 'abort after') {
    controller.abort(new Error('enough'));
  }
  if (fate === 'lost') {
    throw new TypeError('fetch failed');
  }
  return answer;
}
