import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import { build } from 'esbuild';
import { OpenAPIBackend, type Context, type Document } from 'openapi-backend';
import type { OpenApiDocument } from '../../../scripts/openapi/document.js';
import { emptyFolder } from '../empty-folder.js';

/** The arguments of a generated function. */
export interface GeneratedCall {
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
  readonly auth: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** The result of a generated function. */
export interface GeneratedResult {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response?: Response;
}

/** A client as another project would generate it: a function for each operation. */
export type GeneratedClient = Readonly<
  Record<string, (call: GeneratedCall) => Promise<GeneratedResult>>
>;

/** Generates a client from the document with @hey-api/openapi-ts, and loads it. */
export async function generateClient(document: OpenApiDocument): Promise<GeneratedClient> {
  const folder = emptyFolder();
  const input = join(folder, 'openapi.json');
  writeFileSync(input, JSON.stringify(document));
  const output = { path: join(folder, 'client'), tsConfigPath: null };
  const plugins = ['@hey-api/client-fetch', '@hey-api/sdk'] as const;
  await createClient({ input, output, plugins: [...plugins], logs: { level: 'silent' } });
  const outfile = join(folder, 'client.mjs');
  const entryPoints = [join(output.path, 'sdk.gen.ts')];
  await build({ entryPoints, bundle: true, format: 'esm', platform: 'node', outfile });
  return (await import(outfile)) as GeneratedClient; // as: the generator documents it
}

/**
 * A mock server and a validator of responses, as another project would make them from the document.
 */
export interface Mock {
  readonly fetch: typeof fetch;
  /** The errors of a response. */
  problems(operationId: string, status: number, body: unknown): unknown[];
}

/**
 * Makes a mock from the document with openapi-backend: it checks requests and responds with
 * examples.
 */
export async function mockOf(document: OpenApiDocument): Promise<Mock> {
  const backend = new OpenAPIBackend({
    definition: document as unknown as Document, // as: its type is openapi-backend's, not ours
    quick: true, // its check of documents supports only OpenAPI 3.0
    ajvOpts: { strict: false, formats: { binary: true } },
    handlers: {
      notFound: () => Response.json({ error: 'no such path' }, { status: 404 }),
      validationFail: ({ validation }: Context) =>
        Response.json({ error: JSON.stringify(validation.errors) }, { status: 422 }),
      notImplemented: ({ api, operation }: Context) => {
        const id = operation.operationId ?? '';
        const example = api.mockResponseForOperation(id);
        return Response.json(example.mock ?? {}, { status: example.status });
      },
    },
  });
  await backend.init();
  return {
    fetch: async (input, init) => answer(backend, new Request(input, init)),
    problems: (operationId, status, body) =>
      backend.validateResponse(body, operationId, status).errors ?? [],
  };
}

async function answer(backend: OpenAPIBackend, request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const isForm = request.headers.get('content-type')?.startsWith('multipart/') ?? false;
  const text = isForm ? '' : await request.text();
  const body: unknown = isForm
    ? Object.fromEntries([...(await request.formData()).keys()].map((name) => [name, 'a file']))
    : text && JSON.parse(text);
  return (await backend.handleRequest({
    method: request.method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(request.headers),
    ...(body !== '' && { body }),
  })) as Response; // as: the handlers above return it
}
