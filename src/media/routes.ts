import { routes as generate } from './generate/routes.js';

/** Every endpoint of the media service, under the names of the client's methods. */
export const routes = { generate };
