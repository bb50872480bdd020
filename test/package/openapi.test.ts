import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, it } from 'vitest';
import { openApiDocument, operationId } from '../../scripts/openapi/document.js';
import endpoints from '../../src/testing/endpoints.json' with { type: 'json' };
import { callWorld, idFor, inputFor, type Ids } from '../support/contract/calls.js';
import {
  generateClient,
  mockOf,
  type GeneratedClient,
  type Mock,
} from '../support/package/openapi.js';

const document = openApiDocument('1.2.3');

describe('the OpenAPI document', () => {
  it('is valid by an independent validator', async () => {
    const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });
    expect([valid, errors]).toEqual([true, undefined]);
  });

  it('has an operation for each endpoint, with a unique name', () => {
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([method]) => method !== 'servers')
        .map(([method, operation]) => ({ line: `${method.toUpperCase()} ${path}`, operation })),
    );
    const lines = endpoints.map(({ method, path }) => `${method} ${path}`);
    expect(operations.map(({ line }) => line).sort()).toEqual(lines.sort());
    const ids = operations.map(
      ({ operation }) => Reflect.get(operation as object, 'operationId') as string,
    );
    expect(new Set(ids).size).toBe(endpoints.length);
  });

  it('describes limits and keys', () => {
    expect(document.paths['/v1/track']?.['post']).toMatchObject({
      security: [{ publicKey: [] }, { secretKey: [] }],
    });
    expect(JSON.stringify(document.paths['/v1/send'])).toContain('"maxLength":998');
  });
});

describe.each(endpoints)('$sdk', ({ sdk, method, path, service }) => {
  let client: GeneratedClient;
  let mock: Mock;
  beforeAll(async () => {
    [client, mock] = await Promise.all([made.client(), made.mock()]);
  });

  it('works the same with a generated client, a mock server and the fake', async () => {
    const { fake, apiKey, ids } = await callWorld(service);
    const call = client[operationId(sdk)];
    const input = { baseUrl: fake.baseUrl, auth: apiKey, ...requestOf({ sdk, method, path }, ids) };
    const mocked = await call?.({ ...input, baseUrl: 'https://mock.test', fetch: mock.fetch });
    expect([mocked?.error, mocked?.response?.status]).toEqual([undefined, 200]);
    const real = await call?.({ ...input, fetch: withContentType(fake.fetch) });
    const status = real?.response?.status ?? 0;
    expect([real?.error, Math.floor(status / 100)]).toEqual([undefined, 2]);
    expect(fake.requests.at(-1)).toMatchObject({ endpoint: `${method} ${path}` });
    // The document describes no success other than 200.
    expect(mock.problems(operationId(sdk), 200, real?.data)).toEqual([]);
    expect(mock.problems(operationId(sdk), 200, mocked?.data)).toEqual([]);
  });
});

/** Both are created once. */
const made = {
  client: once(() => generateClient(document)),
  mock: once(() => mockOf(document)),
};

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= make();
    return result;
  };
}

type Line = Readonly<Record<'sdk' | 'method' | 'path', string>>;

/** The request of a row, as the arguments of the generated functions. */
function requestOf({ sdk, method, path }: Line, ids: Ids) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  // openapi-backend requires a body wherever one is allowed.
  const input = inputFor(sdk, ids) ?? (hasBody({ method, path }) ? {} : undefined);
  const isQuery = method === 'GET' || method === 'DELETE';
  const inBody = sdk === 'messaging.segments.members.remove' || !isQuery;
  const fields = inBody ? { body: bodyOf(sdk, input) } : { query: input };
  return {
    ...(names.length > 0 && {
      path: Object.fromEntries(names.map((name) => [name, idFor(ids, sdk, name)])),
    }),
    ...(input !== undefined && fields),
  };
}

function hasBody({ method, path }: Pick<Line, 'method' | 'path'>): boolean {
  return 'requestBody' in (document.paths[path]?.[method.toLowerCase()] as object); // as: an operation
}

/** The media service requires a content type for a GET, too, and generated clients send none. */
function withContentType(send: typeof fetch): typeof fetch {
  return (input, init) => {
    const request = new Request(input, init);
    if (request.body === null) {
      request.headers.set('content-type', 'application/json');
    }
    return send(request);
  };
}

/** Uploads are forms with one file. */
function bodyOf(sdk: string, input: unknown): unknown {
  const fields: Readonly<Record<string, string>> = {
    'messaging.contacts.import': 'file',
    'messaging.uploads.image': 'image',
  };
  const field = fields[sdk];
  if (field === undefined) {
    return input;
  }
  const { data, filename, contentType } = input as Record<string, string>; // as: the samples of uploads
  const type = contentType ?? 'text/csv';
  return { [field]: new File([data ?? ''], filename ?? 'file', { type }) };
}
