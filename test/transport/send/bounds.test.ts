import {
  isPostreelError,
  type MessagingClient,
  type MessagingOptions,
  type RequestOptions,
} from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../../support/clients.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

let groups = 0;
const never = new Promise<never>(() => undefined);
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

interface Phase {
  readonly answer?: () => unknown;
  readonly options?: () => MessagingOptions;
  readonly call?: (client: MessagingClient, options: RequestOptions) => PromiseLike<unknown>;
  readonly maxRequests: number;
  /** The error where a wait that cannot fit is refused before it begins. */
  readonly ending?: RegExp;
}

/** Everything that a call may be busy with for ever. */
const phases: [string, Phase][] = [
  ['the function that gives the key', { options: () => ({ apiKey: () => never }), maxRequests: 0 }],
  ['the connection', { answer: () => never, maxRequests: 1 }],
  ['the body of the answer', { answer: () => new Response(new ReadableStream()), maxRequests: 1 }],
  // A retry that cannot fit is not waited for: the call ends with the refusal.
  [
    'a wait that the service asks for',
    { answer: () => refusal(429, '0.9'), maxRequests: 2, ending: /^RateLimitError$/ },
  ],
  [
    'retries',
    {
      answer: () => refusal(503, '0'),
      options: () => ({ retries: 50 }),
      maxRequests: 10,
      ending: /^ServerError$/,
    },
  ],
  [
    'a place in the rate limit',
    {
      answer: () => ({}),
      options: () => ({
        rateLimit: { limit: 1, windowMs: 60_000, group: `bounds ${++groups}` },
        validation: { requests: 'off', responses: 'off' }, // loading the checks takes no virtual time
      }),
      call: async (client, options) => {
        await client.contacts.get('con_0');
        await client.contacts.get('con_1', options);
      },
      maxRequests: 1,
      ending: /^RateLimitError$/,
    },
  ],
  [
    'a Blob that cannot be read',
    {
      call: (client, options) => {
        const content = new Blob(['a']);
        content.arrayBuffer = () => never;
        return client.send({ ...mail, attachments: [{ content }] }, options);
      },
      maxRequests: 0,
    },
  ],
  [
    'a page of a list',
    {
      answer: pageAfterPage(),
      call: (client, options) => client.contacts.list({}, options).toArray(),
      maxRequests: 4,
    },
  ],
];

function refusal(status: number, retryAfter: string): Response {
  return new Response(null, { status, headers: { 'retry-after': retryAfter } });
}

/** Three pages take a tenth of a second each, and the fourth never comes. */
function pageAfterPage(): () => unknown {
  let page = 0;
  return async () => {
    if (page === 3) {
      return never;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    page++;
    return { data: [{ id: `con_${page}` }], hasMore: true, cursor: `page ${page}` };
  };
}

async function begin(phase: Phase, options: RequestOptions) {
  const { fetch, requests } = answering(phase.answer ?? (() => never));
  const client = messagingOver(fetch, phase.options?.());
  const startedAt = Date.now();
  const call = phase.call ?? ((one: MessagingClient, all) => one.contacts.get('con_1', all));
  const failure = Promise.resolve(call(client, options)).then(
    () => undefined,
    (error: unknown) => error,
  );
  await vi.advanceTimersByTimeAsync(3_000);
  const ended = await Promise.race([failure, later()]);
  return { ended, requests, tookMs: Date.now() - startedAt };
}

/** After a hundred turns of the event loop: what has ended is known by then. */
async function later(): Promise<string> {
  for (let turn = 0; turn < 100; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  return 'is still under way';
}

describe.each(phases)('%s that takes for ever', (_, phase) => {
  it('ends with the deadline', async () => {
    const { ended, requests } = await begin(phase, { deadline: 1_000 });
    expect(isPostreelError(ended) && ended.name).toMatch(phase.ending ?? /^TimeoutError$/);
    expect(requests.length).toBeLessThanOrEqual(phase.maxRequests);
  });

  it('ends with the signal', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort('enough'), 500);
    const { ended, requests } = await begin(phase, { signal: controller.signal });
    expect(ended).toBe('enough');
    expect(requests.length).toBeLessThanOrEqual(phase.maxRequests);
  });
});
