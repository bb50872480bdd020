import { schemaMap } from '../contract/schema-map.js';
import { schemas as contacts } from './contacts/schemas.js';
import { routes } from './routes.js';

// Reached only through import(): this module and what it imports is all that knows zod.
export const schemas = schemaMap(routes, { contacts });
