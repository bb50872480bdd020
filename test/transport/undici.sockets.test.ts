import { MessagingClient } from 'postreel';
import { Agent, fetch } from 'undici';
import { expect, it } from 'vitest';
import { serve } from '../support/fake-server.js';

it("a client sends through undici's own fetch, with a dispatcher of its own", async () => {
  const { fake, server } = await serve();
  let dispatched = 0;
  const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
    dispatched++;
    return dispatch(options, handler);
  });
  const counted = (url: string, init: object) => fetch(url, { ...init, dispatcher });
  const messaging = new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: server.messagingUrl,
    fetch: counted as typeof globalThis.fetch,
  });
  fake.fail('POST /contacts', { status: 429, retryAfter: 0 });
  const ann = await messaging.contacts.create({ email: 'ann@example.com' });
  await messaging.contacts.import({ data: 'email\nbob@example.com\n' });
  await messaging.contacts.import(new Blob(['email\neve@example.com\n']));
  expect(dispatched).toBe(4);
  expect(ann.email).toBe('ann@example.com');
  await dispatcher.close();
});
