import { MediaClient, memoryJournal, MessagingClient, type Answer, type Call } from 'postreel';
import { expect, it } from 'vitest';
import endpoints from '../../src/testing/endpoints.json' with { type: 'json' };
import { samples } from '../support/contract/samples.js';

// Repeating these calls does harm, but their keys, passwords, sessions and files must not be stored
// in a journal.
const exceptions =
  /^messaging\.(auth\..+|projects\.regenerateKeys|projects\.billing\..+|uploads\.image|contacts\.import)$/;
const answer = { fileId: 'file_1', filesCreated: ['file_1'], folderId: 'folder_1' };
// Methods whose body or query is optional and has no sample.
const optional =
  /\.(reset|createCheckout|createPortal|invoices|domains\.list|projects\.members\.list)$/;

const takesOnce = ({ sdk, repeatable }: (typeof endpoints)[number]) =>
  !repeatable && !exceptions.test(sdk);
const onceMethods = endpoints.filter(takesOnce);
const others = endpoints.filter((endpoint) => !takesOnce(endpoint));

it.each(onceMethods)(
  '$sdk is made once under a key, and returns the first answer again',
  async ({ sdk, method, path }) => {
    const { call, requests } = callOf(sdk, path);
    const first = await call({ once: 'a' });
    const again = await call({ once: 'a' });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatch(new RegExp(`^${method} `));
    expect(again.replayed).toBe(true);
    expect(JSON.stringify(again.data)).toBe(JSON.stringify(first.data));
    await call({ once: 'b' });
    expect(requests).toHaveLength(2);
  },
);

it.each(others)('$sdk rejects a key before any request', async ({ sdk, path }) => {
  const { call, requests } = callOf(sdk, path);
  await expect(call({ once: 'a' })).rejects.toMatchObject({
    name: 'InvalidRequestError',
    outcome: 'not-sent',
    fieldErrors: [{ field: 'once' }],
  });
  expect(requests).toEqual([]);
});

function callOf(sdk: string, path: string) {
  const requests: string[] = [];
  const options = {
    apiKey: 'sk_test',
    baseUrl: 'https://service.test',
    rateLimit: false as const,
    journal: memoryJournal(),
    fetch: (...request: Parameters<typeof fetch>) => {
      const { method, url } = new Request(...request);
      requests.push(`${method} ${url}`);
      return Promise.resolve(Response.json({ success: true, data: answer }));
    },
  };
  const clients = { messaging: new MessagingClient(options), media: new MediaClient(options) };
  const names = sdk.split('.');
  const name = names.pop() ?? '';
  const owner = names.reduce<unknown>((part, one) => Reflect.get(part as object, one), clients);
  const method = Reflect.get(owner as object, name) as (
    ...args: unknown[]
  ) => Call<unknown> | PromiseLike<unknown>; // a call, or a list
  const ids = [...path.matchAll(/\{\w+\}/g)].map(() => 'id_1');
  const sample = samples[sdk];
  const input = sample ? [sample.body ?? sample.query] : optional.test(sdk) ? [undefined] : [];
  return {
    requests,
    call: async (more: object): Promise<Answer<unknown>> => {
      const running = method(...ids, ...input, more);
      if ('withResponse' in running) {
        return running.withResponse();
      }
      const list: PromiseLike<unknown> = running;
      return { data: await list, response: undefined, requestId: undefined };
    },
  };
}
