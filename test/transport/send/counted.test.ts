import { describe, expect, it, vi } from 'vitest';
import { messagingOver } from '../../support/clients.js';

// Counted, so that no machine is too slow for it.
const contact = { success: true, data: { id: 'con_1', email: 'ann@example.com' } };
const page = { data: [contact.data], hasMore: false };

describe('a call that succeeds makes', () => {
  it.each([
    ['one record', (client: Client) => client.contacts.get('con_1'), contact],
    ['a page', (client: Client) => client.contacts.list(), page],
    ['a change', (client: Client) => client.contacts.create({ email: 'ann@example.com' }), contact],
  ] as const)('one timer, one controller and no listener for %s', async (_what, call, answer) => {
    const client = clientThat(answer);
    await call(client); // loads the schemas
    const own = await counted(() => call(client));
    expect(own).toEqual({ timers: 1, cleared: 1, controllers: 1, requests: 0, listeners: 0 });
  });

  it('no timer and no controller without a timeout and a signal', async () => {
    const client = clientThat(contact);
    const options = { timeout: Number.POSITIVE_INFINITY };
    await client.contacts.get('con_1', options);
    const own = await counted(() => client.contacts.get('con_1', options));
    expect(own).toEqual({ timers: 0, cleared: 0, controllers: 0, requests: 0, listeners: 0 });
  });

  it('no event that nobody hears', async () => {
    const client = clientThat(contact);
    await client.contacts.get('con_1');
    const heard = vi.fn();
    client.on('response', heard);
    await client.contacts.get('con_1');
    client.off('response', heard);
    await client.contacts.get('con_1');
    expect(heard).toHaveBeenCalledOnce();
  });
});

type Client = ReturnType<typeof messagingOver>;

function clientThat(answer: object): Client {
  const text = JSON.stringify(answer);
  const headers = { 'content-type': 'application/json', 'content-length': String(text.length) };
  return messagingOver(() => Promise.resolve(new Response(text, { headers })), {
    rateLimit: { group: 'counted' },
  });
}

/** What a call makes before it reaches `fetch`, and after. */
async function counted(run: () => PromiseLike<unknown>) {
  const counts = { controllers: 0, requests: 0 };
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  const listeners = vi.spyOn(AbortSignal.prototype, 'addEventListener');
  vi.stubGlobal(
    'AbortController',
    counting(AbortController, () => counts.controllers++),
  );
  vi.stubGlobal(
    'Request',
    counting(Request, () => counts.requests++),
  );
  try {
    await run();
    return {
      ...counts,
      timers: timers.mock.calls.length,
      cleared: cleared.mock.calls.filter(([timer]) => timer !== undefined).length,
      listeners: listeners.mock.calls.length,
    };
  } finally {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  }
}

function counting<T extends new (...given: never[]) => object>(made: T, count: () => void): T {
  return new Proxy(made, {
    construct: (target, given: unknown[], self) => {
      count();
      return Reflect.construct(target, given, self) as object;
    },
  });
}
