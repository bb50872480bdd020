import { createRequire } from 'node:module';
import * as nodeFetch3 from 'node-fetch';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { mediaOver, messagingOver } from '../../support/clients.js';

type Globals = Readonly<Record<string, unknown>>;

const { Request, Headers, FormData, Response } = nodeFetch3;
// Its types are written for another version of TypeScript.
const nodeFetch2 = createRequire(import.meta.url)('node-fetch-2') as Globals; // as: its exports have these names

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

afterEach(() => {
  vi.unstubAllGlobals();
});

function stubAll(globals: Globals): void {
  for (const [name, value] of Object.entries(globals)) {
    vi.stubGlobal(name, value);
  }
}

/** A service that counts its requests and answers them. */
function service() {
  let requests = 0;
  const answer = new globalThis.Response('{"success":true,"data":{"emails":[]}}');
  const fetch = () => (requests++, Promise.resolve(answer.clone()));
  return { fetch, requests: () => requests };
}

describe('if a program has replaced the global classes with', () => {
  it.each<[string, Globals]>([
    ['all of node-fetch 3', { Request, Headers, FormData, Response }],
    ['the Request of node-fetch 3', { Request }],
    ['the Request of node-fetch 2', { Request: nodeFetch2['Request'] }],
  ])(
    '%s, the first call is rejected with a clear error, and nothing is sent',
    async (_, globals) => {
      const { fetch, requests } = service();
      stubAll(globals);
      for (const call of [
        messagingOver(fetch).send(mail),
        messagingOver(fetch).contacts.get('con_1'),
        mediaOver(fetch).generate.audio({ content: 'Hello', voiceId: 'v' }),
      ]) {
        const { error } = await call.safe();
        expect(error).toMatchObject({ name: 'ConfigurationError', outcome: 'not-sent' });
        expect(error?.message).toMatch(/^The global `Request` is not the one of the web standard/);
      }
      expect(requests()).toBe(0);
    },
  );

  it.each<[string, Globals]>([
    ['the Headers of node-fetch 3', { Headers }],
    ['the Headers of node-fetch 2', { Headers: nodeFetch2['Headers'] }],
    ['the FormData of node-fetch 3', { FormData }],
    ['the Response of node-fetch 3', { Response }],
  ])('%s, calls work', async (_, globals) => {
    const { fetch, requests } = service();
    stubAll(globals);
    await expect(messagingOver(fetch).send(mail)).resolves.toEqual({ emails: [] });
    expect(requests()).toBe(1);
  });
});
