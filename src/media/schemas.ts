import { schemaMap } from '../contract/schema-map.js';
import { schemas as generate } from './generate/schemas.js';
import { routes } from './routes.js';

// Reached only through import(): this module and what it imports is all that knows zod.
export const schemas = schemaMap(routes, { generate });
