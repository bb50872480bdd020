import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createContext, runInContext } from 'node:vm';
import { MessagingClient } from 'postreel';
import nodeFetch, * as nodeFetch3 from 'node-fetch';
import * as undici from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Arrived {
  readonly type: string;
  readonly bytes: Buffer;
}

const arrived: Arrived[] = [];
const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request
    .on('data', (piece: Buffer) => pieces.push(piece))
    .on('end', () => {
      const type = request.headers['content-type'] ?? '';
      arrived.push({ type, bytes: Buffer.concat(pieces) });
      response.setHeader('content-type', 'application/json');
      response.end('{"success":true}');
    });
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const fetches = { 'the global fetch': undefined, undici: undici.fetch, 'node-fetch 3': nodeFetch };

/** Posts a form to an endpoint that has no method yet. */
function post(body: unknown, fetch?: unknown) {
  const { port } = server.address() as AddressInfo; // as: it listens on a port
  const client = new MessagingClient({
    apiKey: 'sk_test_key',
    baseUrl: `http://127.0.0.1:${port}`,
    dangerouslyAllowPlainHttp: true,
    rateLimit: false,
    fetch: fetch as typeof globalThis.fetch | undefined, // as: each is called like `fetch`
  });
  return client.request('POST', '/new', { body }).safe();
}

/** The form that arrived last, parsed as a service does. */
async function lastForm(): Promise<[string, unknown][]> {
  const { type, bytes } = arrived.at(-1)!;
  const headers = { 'content-type': type };
  const form = await new Response(new Uint8Array(bytes), { headers }).formData();
  const entries = [...form].map(async ([name, value]): Promise<[string, unknown]> => [
    name,
    typeof value === 'string' ? value : [value.name, value.type, await value.text()],
  ]);
  return Promise.all(entries);
}

const classes = { 'of the runtime': FormData, 'of undici': undici.FormData };

describe.each(Object.entries(classes))('a form %s', (_, Form) => {
  it.each(Object.entries(fetches))('arrives whole over %s', async (_name, fetch) => {
    const form = new Form();
    form.append('name "of" it', 'Ann\nBö');
    form.append('file', new Blob(['x,y\r\n'], { type: 'text/csv' }), 'a "b".csv');
    form.append('bytes', new Blob([new Uint8Array([0, 255])]));
    const { error } = await post(form, fetch);
    expect(error).toBeUndefined();
    expect(await lastForm()).toEqual([
      ['name "of" it', 'Ann\r\nBö'],
      ['file', ['a "b".csv', 'text/csv', 'x,y\r\n']],
      ['bytes', ['blob', 'application/octet-stream', expect.any(String)]],
    ]);
    expect(arrived.at(-1)?.bytes.includes(Buffer.from([0, 255]))).toBe(true);
  });
});

it("a form of node-fetch arrives if it holds no file of node-fetch's class", async () => {
  const form = new nodeFetch3.FormData();
  form.append('name', 'Ann');
  await post(form);
  expect(await lastForm()).toEqual([['name', 'Ann']]);
  form.append('file', new nodeFetch3.Blob(['x']), 'x.txt');
  const before = arrived.length;
  const { error } = await post(form);
  expect(error).toMatchObject({ name: 'InvalidRequestError', outcome: 'not-sent' });
  expect(error?.message).toContain('`body.file` must be a string or a `Blob`');
  expect(arrived).toHaveLength(before);
});

it('an object that only claims to be a form is rejected', async () => {
  const other = runInContext(
    'new (class FormData { streams = []; get [Symbol.toStringTag]() { return "FormData"; } })()',
    createContext(),
  ) as unknown;
  const before = arrived.length;
  const { error } = await post(other);
  expect(error?.message).toContain('`body` cannot be sent as JSON; got a FormData');
  expect(arrived).toHaveLength(before);
});
