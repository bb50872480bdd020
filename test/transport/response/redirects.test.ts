import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MediaClient, MessagingClient } from 'postreel';
import { afterEach, describe, expect, it } from 'vitest';
import { messagingOver } from '../../support/clients.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const open: { close(): void }[] = [];

afterEach(() => {
  for (const service of open.splice(0)) {
    service.close();
  }
});

const statuses = [301, 302, 303, 307, 308];

describe.each(statuses)('a redirect with %i', (status) => {
  it('to another origin is not followed: nobody there sees a request', async () => {
    const { other, client } = await redirecting(status, (elsewhere) => `${elsewhere}/v1/send`);
    await expect(client.send(mail)).rejects.toMatchObject({
      name: 'UnexpectedResponseError',
      status,
    });
    await expect(client.contacts.list()).rejects.toMatchObject({ status });
    expect(other).toEqual([]);
  });

  it('to the same origin is not followed either', async () => {
    const { own, client } = await redirecting(status, () => '/elsewhere');
    await expect(client.send(mail)).rejects.toMatchObject({ status });
    expect(own.map(({ url }) => url)).toEqual(['/v1/send']);
  });

  it('says where it leads, without its path and query, and what to do', async () => {
    const { client, elsewhere } = await redirecting(status, (to) => `${to}/login?token=secret`);
    const error: unknown = await client.contacts
      .list()
      .then(undefined, (thrown: unknown) => thrown);
    expect((error as Error).message).toBe(
      `GET /contacts was answered with a redirect to ${elsewhere}, which is not followed. Set \`baseUrl\` to the service's own address.`,
    );
  });

  it('is not repeated', async () => {
    const { own, client } = await redirecting(status, () => '/elsewhere');
    await client.contacts.list().then(undefined, () => undefined);
    expect(own).toHaveLength(1);
  });
});

describe('the outcome of a redirect', () => {
  it.each([
    [301, 'rejected'],
    [302, 'unknown'],
    [303, 'unknown'],
    [307, 'rejected'],
    [308, 'rejected'],
  ])('with %i of a call that changes something is %s', async (status, outcome) => {
    const { client } = await redirecting(status, () => '/elsewhere');
    await expect(client.send(mail)).rejects.toMatchObject({ outcome });
  });

  it.each(statuses)('with %i of a read is rejected', async (status) => {
    const { client } = await redirecting(status, () => '/elsewhere');
    await expect(client.contacts.get('con_1')).rejects.toMatchObject({ outcome: 'rejected' });
  });

  it('that a browser hides is unknown', async () => {
    const hidden = { ok: false, status: 0, type: 'opaqueredirect', headers: new Headers() };
    const response = Object.assign(new Response(null), {});
    for (const [name, value] of Object.entries(hidden)) {
      Object.defineProperty(response, name, { value });
    }
    const call = messagingOver(() => Promise.resolve(response)).send(mail);
    await expect(call).rejects.toMatchObject({
      name: 'UnexpectedResponseError',
      outcome: 'unknown',
    });
  });
});

it('the media service is treated the same', async () => {
  const { other, ownUrl } = await redirecting(307, (elsewhere) => elsewhere);
  const media = new MediaClient({ apiKey: 'media_1', baseUrl: ownUrl });
  const call = media.generate.audio({ content: 'Hello', voiceId: 'voice_1' });
  await expect(call).rejects.toMatchObject({ status: 307, outcome: 'rejected' });
  expect(other).toEqual([]);
});

/** Two services: the own one sends everybody somewhere else. */
async function redirecting(status: number, target: (elsewhere: string) => string) {
  const other: IncomingMessage[] = [];
  const own: IncomingMessage[] = [];
  const elsewhere = await listen((request) => {
    other.push(request);
    return { status: 200, headers: {} };
  });
  const ownUrl = await listen((request) => {
    own.push(request);
    return { status, headers: { location: target(elsewhere) } };
  });
  const client = new MessagingClient({ apiKey: 'sk_test_1', baseUrl: ownUrl });
  return { client, own, other, elsewhere, ownUrl };
}

async function listen(
  answer: (request: IncomingMessage) => { status: number; headers: Record<string, string> },
): Promise<string> {
  const server = createServer((request, response) => {
    const { status, headers } = answer(request);
    response.writeHead(status, headers).end('{}');
  }).listen(0, '127.0.0.1');
  open.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}
