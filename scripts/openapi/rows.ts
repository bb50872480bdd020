import { readFileSync } from 'node:fs';
import { type Route, mapSchemas, type RouteSchemas } from '../../src/core/call/route.js';
import { routes as mediaRoutes } from '../../src/media/routes.js';
import { schemas as mediaSchemas } from '../../src/media/schemas.js';
import { routes as messagingRoutes } from '../../src/messaging/routes.js';
import { schemas as messagingSchemas } from '../../src/messaging/schemas.js';

/** An endpoint with all that is known of it. */
export interface Row {
  readonly service: 'messaging' | 'media';
  /** The method that calls it, e.g. `messaging.contacts.list`. */
  readonly sdk: string;
  readonly route: Route;
  readonly schemas: RouteSchemas;
  /** Does the document wrap its answer in `{ success, data }`? */
  readonly isEnveloped: boolean;
}

interface Endpoint {
  readonly service: Row['service'];
  readonly sdk: string;
  readonly enveloped: boolean;
}

/** Every row of both services. */
export function rowsOf(): Row[] {
  const file = new URL('../../src/testing/endpoints.json', import.meta.url);
  const endpoints = JSON.parse(readFileSync(file, 'utf8')) as Endpoint[]; // as: our own table
  const tables = { messaging: messagingRoutes, media: mediaRoutes };
  const schemas = new Map([
    ...mapSchemas(messagingRoutes, messagingSchemas),
    ...mapSchemas(mediaRoutes, mediaSchemas),
  ]);
  return endpoints.map(({ service, sdk, enveloped }) => {
    const route = sdk.split('.').reduce<object>(stepInto, tables) as Route; // as: a leaf of a table
    return { service, sdk, route, schemas: schemas.get(route) ?? {}, isEnveloped: enveloped };
  });
}

const stepInto = (table: object, name: string) => Reflect.get(table, name) as object;
