import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { isPostreelError, MessagingClient, type ApiError } from 'postreel';
import { afterEach, describe, expect, it } from 'vitest';
import { messagingOver } from '../../support/clients.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const open: Server[] = [];

afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
  }
});

describe('an endless answer', () => {
  it('that says no is read for 64 KB, and then hung up on', async () => {
    let sentBytes = 0;
    let isGone = false;
    const url = await listen((response) => {
      response.once('close', () => {
        isGone = true;
      });
      response.writeHead(500);
      const chunk = 'x'.repeat(16 * 1024);
      const more = () => {
        while (!response.destroyed && response.write(chunk)) {
          sentBytes += chunk.length;
        }
        if (!response.destroyed) {
          response.once('drain', more);
        }
      };
      more();
    });
    const failure = await failureOf(client(url).send(mail));
    expect(failure).toMatchObject({ status: 500, outcome: 'unknown' });
    await expect.poll(() => isGone).toBe(true);
    // What the sockets hold is more than what is read.
    expect(sentBytes).toBeLessThan(16 * 1024 * 1024);
  });

  it('that says yes is ended by the timeout', async () => {
    const url = await listen((response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 5);
      response.once('close', () => clearInterval(timer));
    });
    const failure = await failureOf(client(url).send(mail, { timeout: 200 }));
    expect(failure).toMatchObject({ code: 'TIMEOUT', outcome: 'unknown' });
  });
});

describe('an answer that is not HTTP', () => {
  it.each([
    ['nothing', ''],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a head that never ends', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}`],
    ['a length that is too long', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}'],
    ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}'],
    ['broken chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n'],
    [
      'a compression that is none',
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}',
    ],
    ['a status of its own', 'HTTP/1.1 999 What\r\nContent-Length: 2\r\n\r\n{}'],
  ])('is an error of ours with an unknown outcome: %s', async (_, text) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined); // the client hangs up
      socket.once('data', () => socket.end(text));
    });
    const failure = await failureOf(client(await urlOf(server)).send(mail, { timeout: 5_000 }));
    expect(failure).toMatchObject({ outcome: 'unknown' });
  });
});

describe('nesting', () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const deepData = (levels: number) => `${'{"data":'.repeat(levels)}[]${'}'.repeat(levels)}`;

  it.each([
    ['a record', deep(100_000)],
    ['the data of a contact', `{"id":"con_1","data":${deep(100_000)}}`],
    ['arrays', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('as deep as the stack is a value: %s', async (_, text) => {
    const messaging = messagingOver(() => Promise.resolve(new Response(text)));
    await expect(messaging.contacts.get('con_1')).resolves.toBeDefined();
  });

  it('of a list in a list in a list is an error of ours', async () => {
    const text = deepData(100_000);
    const messaging = messagingOver(() => Promise.resolve(new Response(text)));
    await expect(messaging.contacts.list()).rejects.toMatchObject({ code: 'UNEXPECTED_RESPONSE' });
  });

  it.each([deep(10_000), deepData(10_000)])('of an error is an error', async (text) => {
    const messaging = messagingOver(() => Promise.resolve(new Response(text, { status: 422 })));
    await expect(messaging.send(mail)).rejects.toMatchObject({ status: 422 });
  });
});

describe('size', () => {
  it('of a million items is a value', async () => {
    const text = `{"data":[${'{},'.repeat(999_999)}{}]}`;
    const messaging = messagingOver(() => Promise.resolve(new Response(text)), {
      validation: { responses: 'off' },
    });
    const { items } = await messaging.contacts.list();
    expect(items).toHaveLength(1_000_000);
  });

  it('of two hundred thousand wrong items is one event, and a short message', async () => {
    const text = `{"data":[${'{},'.repeat(199_999)}{}]}`;
    const messaging = messagingOver(() => Promise.resolve(new Response(text)), {
      validation: { responses: 'throw' },
    });
    const failure = await failureOf(messaging.contacts.list());
    expect(failure).toMatchObject({ code: 'RESPONSE_MISMATCH' });
    expect((failure as Error).message.length).toBeLessThan(1_000);
  });

  it('of the texts of an error is a thousand characters', async () => {
    const long = 'é'.repeat(5_000);
    const error = { code: long, message: long, suggestion: long, requestId: long };
    const failure = await refusedWith({ error: { ...error, errors: many(1, 2_000) } });
    const { code, suggestion, requestId, fieldErrors, message } = failure;
    for (const text of [code, suggestion, requestId, fieldErrors[0]?.field]) {
      expect(text?.length).toBeLessThanOrEqual(1_000);
    }
    expect(message.length).toBeLessThan(800);
  });

  it('of the field errors is a hundred', async () => {
    const { fieldErrors, message } = await refusedWith({ error: { errors: many(500, 10) } });
    expect(fieldErrors).toHaveLength(100);
    expect(message).toContain('(and 99 more)');
  });

  it('of a request id in a header is two hundred characters', async () => {
    const headers = { 'x-request-id': 'r'.repeat(5_000) };
    const messaging = messagingOver(() =>
      Promise.resolve(new Response(null, { status: 404, headers })),
    );
    const failure = (await failureOf(messaging.contacts.get('con_1'))) as ApiError;
    expect(failure.requestId).toHaveLength(200);
  });
});

describe('control characters', () => {
  it('in an answer are none in a message', async () => {
    const evil = 'a\n\u001b[31mb\u0000c\r\nd';
    const error = { code: evil, message: evil, requestId: evil };
    const failure = await refusedWith({
      error: { ...error, errors: [{ field: evil, message: evil }] },
    });
    expect(failure.message).not.toMatch(/\p{Cc}/u);
    expect(failure.message).toContain('a [31mb c d');
  });
});

function many(count: number, length: number) {
  return Array.from({ length: count }, (_, index) => ({
    field: `field_${index}_${'f'.repeat(length)}`,
    message: 'm'.repeat(length),
  }));
}

async function refusedWith(body: unknown): Promise<ApiError> {
  const messaging = messagingOver(() => Promise.resolve(Response.json(body, { status: 422 })));
  return (await failureOf(messaging.send(mail))) as ApiError;
}

async function failureOf(call: PromiseLike<unknown>): Promise<unknown> {
  const failure: unknown = await Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(isPostreelError(failure)).toBe(true);
  return failure;
}

function client(baseUrl: string): MessagingClient {
  return new MessagingClient({ apiKey: 'sk_test_1', baseUrl, retries: 0 });
}

function listen(answer: (response: ServerResponse) => void): Promise<string> {
  return urlOf(createServer((_, response) => answer(response)));
}

async function urlOf(server: Server): Promise<string> {
  open.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}
