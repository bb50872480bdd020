import { MessagingClient } from 'postreel';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

let server: FakeServer;
let messaging: MessagingClient;
beforeAll(async () => {
  server = await startFakeServer();
  const { messagingUrl: baseUrl, messaging: fake } = server;
  messaging = new MessagingClient({ baseUrl, apiKey: fake.secretKey });
});
afterEach(() => {
  vi.unstubAllGlobals();
});
afterAll(() => server.close());

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const file = { data: 'email\neve@example.com\n', filename: 'people.csv' };
const last = () => server.messaging.requests.at(-1)!;
const framing = () => [last().headers['transfer-encoding'], last().headers['content-length']];

// Deno repeats a request whose body is not a stream (test/runtimes/repeating-fetch.test.ts shows
// it).
describe('in Deno', () => {
  it.each([
    ['with JSON', () => messaging.send(mail), /^application\/json$/],
    ['with a file', () => messaging.contacts.import(file), /^multipart\/form-data; ?boundary=/],
  ])('a POST %s streams its body, which arrives whole', async (_name, post, contentType) => {
    await post().safe();
    const plain = last();
    vi.stubGlobal('Deno', {});
    await post().safe();
    expect(framing()).toEqual(['chunked', undefined]);
    expect(last().headers['content-type'] ?? '').toMatch(contentType);
    expect([last().endpoint, last().status]).toEqual([plain.endpoint, plain.status]);
    if (!(plain.body instanceof FormData)) {
      expect(last().body).toEqual(plain.body);
    }
  });

  it('a PATCH streams its body too', async () => {
    vi.stubGlobal('Deno', {});
    await messaging.contacts.update('con_unknown', { data: { plan: 'pro' } }).safe();
    expect(framing()).toEqual(['chunked', undefined]);
  });

  it('a GET does not stream, because it may be repeated', async () => {
    vi.stubGlobal('Deno', {});
    await messaging.contacts.get('con_unknown').safe();
    expect(framing()[0]).toBeUndefined();
  });
});

it('a POST in another runtime announces its length', async () => {
  await messaging.send(mail);
  expect(framing()).toEqual([undefined, String(JSON.stringify(mail).length)]);
});
