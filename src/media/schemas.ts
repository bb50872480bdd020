import { schemas as generate } from './generate/schemas.js';

/** The schemas of every endpoint, under the same names as the routes; reached only lazily. */
export const schemas = { generate };
