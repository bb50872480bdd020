import { createServer, request as connect, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { createInbox, type WebhookInbox } from 'postreel/webhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fileUrl, secret, successBody } from '../../support/webhooks/callbacks.js';

const path = '/shop/media-done';
const closing: (() => unknown)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** Starts a server with an inbox at `path`, and returns its address. */
type Start = (inbox: WebhookInbox) => Promise<string>;

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // as: it listens on a port
}

/** Express with a router, which removes its prefix from `req.url`. */
function withExpress(
  parser: express.RequestHandler = (_request, _response, next) => next(),
): Start {
  return (inbox) => {
    const router = express.Router();
    router.all('/media-done', inbox.node);
    // as: Express passes its request and response on to node:http
    return listen(express().use(parser).use('/shop', router) as RequestListener);
  };
}

const servers: Record<string, Start> = {
  'node:http': (inbox) => listen((request, response) => void inbox.node(request, response)),
  Express: withExpress(),
  'Express behind express.json()': withExpress(express.json({ limit: '1mb' })),
  'Express behind express.json({ type: text/plain })': withExpress(
    express.json({ type: 'text/plain' }),
  ),
  'Express behind express.text()': withExpress(express.text({ type: '*/*', limit: '1mb' })),
  'Express behind express.raw()': withExpress(express.raw({ type: '*/*', limit: '1mb' })),
  'Express behind a parser that leaves `{}`': withExpress((request, _response, next) => {
    request.body = {};
    next();
  }),
  Fastify: (inbox) => {
    const app = fastify({ bodyLimit: 1_000_000 });
    app.all(path, inbox.node);
    closing.push(() => app.close());
    return app.listen({ port: 0, host: '127.0.0.1' });
  },
  Hono: (inbox) => {
    const app = new Hono().all(path, (context) => inbox.fetch(context.req.raw));
    return new Promise((resolve) => {
      const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
        resolve(`http://127.0.0.1:${port}`),
      );
      closing.push(() => server.close());
    });
  },
};

async function openServer(start: Start) {
  const inbox = createInbox({ secret });
  const server = await start(inbox);
  const send = (url: string, body: unknown = successBody()) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  // Signs the public address; the server sits behind a proxy that ends TLS.
  const signedUrlOf = async () =>
    server + (await inbox.url(`https://shop.example${path}`)).slice(20);
  return { inbox, server, send, signedUrlOf };
}

describe.each(Object.entries(servers))('%s', (_name, start) => {
  it('passes a callback to the inbox', async () => {
    const { inbox, send, signedUrlOf } = await openServer(start);
    const response = await send(await signedUrlOf());
    expect([response.status, await response.text()]).toEqual([204, '']);
    await expect(inbox.wait('file_1')).resolves.toEqual({
      fileId: 'file_1',
      status: 'success',
      url: fileUrl,
      raw: successBody(),
    });
  });

  it('rejects a forged callback', async () => {
    const { server, send, signedUrlOf } = await openServer(start);
    expect((await send(server + path)).status).toBe(401);
    const response = await send((await signedUrlOf()).replace('expires=1', 'expires=9'));
    expect([response.status, await response.text()]).toEqual([401, 'SIGNATURE_INVALID']);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  });

  it('gives a repeated callback the same response as the first', async () => {
    const { send, signedUrlOf } = await openServer(start);
    const url = await signedUrlOf();
    expect((await send(url)).status).toBe(204);
    expect((await send(url)).status).toBe(204);
  });

  it('rejects an invalid body', async () => {
    const { send, signedUrlOf } = await openServer(start);
    expect((await send(await signedUrlOf(), [])).status).toBe(400);
    expect((await send(await signedUrlOf(), '{}')).status).toBe(400);
  });

  it('answers 405 to a GET', async () => {
    const { signedUrlOf } = await openServer(start);
    const response = await fetch(await signedUrlOf());
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });
});

// Behind a JSON parser, the parser limits the body.
const unparsed = Object.entries(servers).filter(
  ([name]) => !/express\.json\(\)|^Fastify/.test(name),
);

it.each(unparsed)('%s answers 413 to a long body', async (_name, start) => {
  const { send, signedUrlOf } = await openServer(start);
  expect((await send(await signedUrlOf(), ' '.repeat(200_000))).status).toBe(413);
});

describe('the Node handler', () => {
  it('answers 413 to an endless body before its end', async () => {
    const inbox = createInbox({ secret });
    const server = await servers['node:http']!(inbox);
    const url = server + (await inbox.url(`https://shop.example${path}`)).slice(20);
    const caller = connect(url, { method: 'POST' });
    caller.write(' '.repeat(70_000));
    const status = await new Promise((resolve, reject) => {
      caller.on('response', ({ statusCode }) => resolve(statusCode)).on('error', reject);
    }).finally(() => caller.destroy());
    expect(status).toBe(413);
  });

  it.each([
    ['signed', 413],
    ['not signed', 401],
  ])('closes the connection of an endless body that is %s', async (kind, expected) => {
    const inbox = createInbox({ secret });
    const server = await servers['node:http']!(inbox);
    const signedUrl = server + (await inbox.url(`https://shop.example${path}`)).slice(20);
    const caller = connect(kind === 'signed' ? signedUrl : server + path, { method: 'POST' });
    const closed = new Promise((resolve) => caller.on('close', resolve));
    const feed = setInterval(() => caller.write(' '.repeat(8_000)), 1);
    const status = await new Promise((resolve) => {
      caller.on('response', ({ statusCode }) => resolve(statusCode));
      caller.on('error', resolve);
    });
    expect(status).toBe(expected);
    await closed;
    clearInterval(feed);
  });

  it('survives a caller that hangs up in the middle of its body', async () => {
    const onError = vi.fn();
    const inbox = createInbox({ secret, onError });
    const server = await servers['node:http']!(inbox);
    const url = server + (await inbox.url(`https://shop.example${path}`)).slice(20);
    const caller = connect(url, { method: 'POST', headers: { 'content-length': 100 } });
    caller.on('error', () => undefined);
    caller.write('{', () => caller.destroy());
    await vi.waitFor(() => expect(onError).toHaveBeenCalledOnce());
    expect(onError.mock.calls[0]).toMatchObject([{ code: 'ECONNRESET' }]);
  });

  it('does not change a response that other code has already sent', async () => {
    const inbox = createInbox({ secret });
    const server = await listen((request, response) => {
      response.writeHead(202).end();
      void inbox.node(request, response);
    });
    expect((await fetch(server + path, { method: 'POST' })).status).toBe(202);
  });
});
