import { MediaClient, MessagingClient, type Page } from 'postreel';
import { describe, expect, it } from 'vitest';
import { routes as mediaRoutes } from '../../src/media/routes.js';
import { schemas as mediaSchemas } from '../../src/media/schemas.js';
import { routes as messagingRoutes } from '../../src/messaging/routes.js';
import { schemas as messagingSchemas } from '../../src/messaging/schemas.js';
import type { Route } from '../../src/core/call/route.js';
import endpoints from '../../src/testing/endpoints.json' with { type: 'json' };
import { samples, type Sample } from '../support/contract/samples.js';

const tables = { messaging: messagingRoutes, media: mediaRoutes };
const secretKey = 'sk_test_contract';
const listed = { id: 'item_1' };

describe.each(endpoints)('$sdk ($method $path)', (endpoint) => {
  const row = find(tables, endpoint.sdk) as Route;
  const sample: Sample = samples[endpoint.sdk] ?? {};

  it('has a row with the facts of the table', () => {
    expect(row).toMatchObject({
      method: endpoint.method,
      path: endpoint.path,
      key: endpoint.key,
    });
    expect(row.repeatable).toBe(endpoint.repeatable);
    expect(row.returns.list !== undefined).toBe('list' in endpoint);
    if (endpoint.list === 'cursor') {
      expect(row.returns.list).toBe('cursor');
    }
    if (endpoint.list === 'page') {
      expect(row.returns.list).toBe('page');
    }
    if (endpoint.list === 'array') {
      expect(row.returns.list).toBe('whole');
    }
  });

  it('has schemas, and says whether they check what is sent', () => {
    const own = find({ messaging: messagingSchemas, media: mediaSchemas }, endpoint.sdk);
    const { body, query } = own as { body?: object; query?: object }; // each row has an entry
    expect(row.hasInput).toBe(body !== undefined || query !== undefined);
  });

  it('sends its method, path, key and body', async () => {
    const { sent } = await call(endpoint.sdk, row, sample, {
      data: [],
      fileId: 'file_1',
      filesCreated: ['file_1'],
    });
    const url = new URL(sent.url);
    expect(sent.method).toBe(endpoint.method);
    expect(decodeURIComponent(url.pathname)).toBe(filled(endpoint.path));
    expect(sent.headers.get('authorization')).toBe(
      endpoint.key === 'none' ? null : `Bearer ${secretKey}`,
    );
    const query = Object.entries(sample.query ?? {}).map(([key, value]) => [key, String(value)]);
    expect([...url.searchParams]).toEqual(query);
    if (row.upload) {
      const form = await sent.formData();
      expect(form.get(row.upload.field)).toBeInstanceOf(File);
    } else if (sample.body === undefined) {
      expect(['', '{}']).toContain(await sent.text());
    } else {
      expect(await sent.json()).toEqual(sample.body);
    }
  });

  it('takes the answer out of its envelope', async () => {
    const result = { fileId: 'file_1', filesCreated: ['file_1'], folderId: 'folder_1' };
    const { data } = await call(endpoint.sdk, row, sample, { success: true, data: result });
    if (row.returns.list !== undefined) {
      expect((data as Page<unknown>).items).toEqual([listed]); // as: a list
    } else if (endpoint.sdk === 'media.generate.video') {
      expect(data).toMatchObject([{ fileId: 'file_1' }]);
    } else {
      expect(data).toMatchObject({ fileId: 'file_1' });
    }
  });
});

it('has no row that the table does not know', () => {
  const known = new Set(endpoints.map(({ sdk }) => sdk));
  const rows = Object.entries(tables).flatMap(([name, table]) => [...names(table, name)]);
  expect(rows.filter((name) => !known.has(name))).toEqual([]);
  expect(rows).toHaveLength(endpoints.length);
});

async function call(sdk: string, row: Route, sample: Sample, answer: unknown) {
  const requests: Request[] = [];
  const options = {
    apiKey: secretKey,
    baseUrl: 'https://service.test',
    rateLimit: false as const,
    retries: 0,
    fetch: (input: string | URL | Request, init?: RequestInit) => {
      const request = new Request(input, init);
      requests.push(request.clone());
      const list = row.returns.list !== undefined && 'success' in (answer as object);
      return Promise.resolve(Response.json(list ? { success: true, data: [listed] } : answer));
    },
  };
  const clients = { messaging: new MessagingClient(options), media: new MediaClient(options) };
  const path = sdk.split('.');
  const name = path.pop() ?? '';
  const owner = find(clients, path.join('.')) as Record<string, (...args: unknown[]) => unknown>;
  expect(typeof owner[name], `${sdk}() exists`).toBe('function');
  const ids = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, id]) => `${id ?? ''}/1`);
  const input = sample.body ?? sample.query;
  const data: unknown = await owner[name]!(...ids, ...(input === undefined ? [] : [input]));
  return { sent: requests[0]!, data };
}

function filled(path: string): string {
  return path.replace(/\{(\w+)\}/g, '$1/1');
}

function find(root: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], root);
}

function* names(table: object, prefix: string): Generator<string> {
  for (const [name, row] of Object.entries(table) as [string, object][]) {
    if ('method' in row) {
      yield `${prefix}.${name}`;
    } else {
      yield* names(row, `${prefix}.${name}`);
    }
  }
}
