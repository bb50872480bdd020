import type { ListResult, Route, SingleResult, RouteSchemas } from '../../src/core/call/route.js';
import { errorAnswers, errorSchemas } from './errors.js';
import { jsonSchemaOf, type JsonSchema } from './json-schema.js';
import { rowsOf, type Row } from './rows.js';

/** An OpenAPI 3.1 document, as far as this script writes it. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: object;
  readonly servers: readonly object[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: object; readonly securitySchemes: object };
}

/** Describes both services, from the rows and schemas that the client itself works with. */
export function openApiDocument(version: string): OpenApiDocument {
  const rows = rowsOf();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const row of rows) {
    const { path, method } = row.route;
    const own = row.service === 'media' ? { servers: [server('media')] } : {};
    paths[path] = { ...own, ...paths[path], [method.toLowerCase()]: operationOf(row) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Messaging and media services',
      version,
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [server('messaging')],
    tags: [...new Set(rows.map(tagOf))].map((name) => ({ name })),
    paths,
    components: { schemas: errorSchemas, securitySchemes },
  };
}

const description = `The services that the package postreel calls, made from its route tables and
schemas. Where the services' documents leave a shape open, so does this one. The paths of the media
service have servers of their own; it wants \`Content-Type: application/json\` for each request, which
OpenAPI cannot say of a GET.`;

function server(service: Row['service']): object {
  const name = `${service}BaseUrl`;
  const variables = { [name]: { default: `https://${service}.example.com` } };
  return { url: `{${name}}`, description: `The ${service} service`, variables };
}

const bearer = { type: 'http', scheme: 'bearer' } as const;
const securitySchemes = {
  secretKey: {
    ...bearer,
    description: 'A secret key; of the messaging service it starts with sk_.',
  },
  publicKey: { ...bearer, description: 'A public key, which starts with pk_ and may only track.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'session',
    description: 'The cookie of a sign-in.',
  },
};

const security: Readonly<Record<Route['key'], readonly object[]>> = {
  secret: [{ secretKey: [] }],
  'public-or-secret': [{ publicKey: [] }, { secretKey: [] }],
  none: [],
  'secret-or-session': [{ secretKey: [] }, { session: [] }],
};

function operationOf(row: Row): object {
  const { route, schemas, sdk } = row;
  const parameters = [...pathParameters(route), ...queryParameters(schemas)];
  const body = bodyOf(route, schemas);
  return {
    operationId: operationId(sdk),
    summary: `${sdk}()`,
    tags: [tagOf(row)],
    security: security[route.key],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: needsBody(schemas), content: body } }),
    responses: { '200': successOf(row), ...errorAnswers },
    'x-repeatable': route.repeatable,
  };
}

/** A body that may be empty may also be left out. */
function needsBody({ body }: RouteSchemas): boolean {
  return body?.safeParse({}).success === false;
}

/** `messaging.contacts.list` becomes `contactsList`; names of media keep their service. */
export function operationId(sdk: string): string {
  const [service = '', ...names] = sdk.split('.');
  const parts = service === 'media' ? [service, ...names] : names;
  return parts.map((part, at) => (at === 0 ? part : capitalised(part))).join('');
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function tagOf({ service, sdk }: Row): string {
  const [, resource = '', ...rest] = sdk.split('.');
  return rest.length === 0 ? service : resource;
}

function pathParameters({ path }: Route): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: RouteSchemas): object[] {
  const { properties = {}, required = [] } = query === undefined ? {} : jsonSchemaOf(query);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && { required: true }),
    schema,
  }));
}

function bodyOf({ upload }: Route, { body }: RouteSchemas): object | undefined {
  if (upload !== undefined) {
    const file = { type: 'string', format: 'binary' };
    const schema = {
      type: 'object',
      properties: { [upload.field]: file },
      required: [upload.field],
    };
    return { 'multipart/form-data': { schema } };
  }
  return body && { 'application/json': { schema: jsonSchemaOf(body) } };
}

function successOf({ route, schemas, isEnveloped }: Row): object {
  const { returns } = route;
  if (returns.list === undefined && returns.isNothing) {
    return { description: 'Done. What the answer says is not documented.' };
  }
  const item = schemas.returns === undefined ? {} : jsonSchemaOf(schemas.returns, 'output');
  const plain = isList(returns) ? listOf(returns, item) : item;
  const schema = isEnveloped ? envelope(plain) : plain;
  return { description: 'Success', content: { 'application/json': { schema } } };
}

const isList = (
  returns: ListResult<unknown> | SingleResult<unknown>,
): returns is ListResult<unknown> => returns.list !== undefined;

function envelope(data: JsonSchema): JsonSchema {
  const properties = { success: { type: 'boolean', enum: [true] }, data };
  return { type: 'object', properties, required: ['success', 'data'] };
}

/** A page of a list, as its style has it; where the documents show none, anything with items. */
function listOf({ list, itemsName = 'data' }: ListResult<unknown>, item: JsonSchema): JsonSchema {
  const items = { type: 'array', items: item };
  const page = (properties: Record<string, JsonSchema>, required: readonly string[]) => {
    return { type: 'object', properties: { [itemsName]: items, ...properties }, required };
  };
  const count = { type: 'integer', minimum: 0 };
  switch (list) {
    case 'cursor': {
      const cursor = { anyOf: [{ type: 'string' }, { type: 'null' }] };
      const more = { type: 'boolean' };
      return page({ cursor, hasMore: more, total: count }, [itemsName, 'hasMore']);
    }
    case 'page':
      return page({ page: count, pageSize: count, total: count, totalPages: count }, [itemsName]);
    case 'whole':
    case 'any':
      return { anyOf: [items, page({}, [itemsName]), { type: 'object' }] };
  }
}
