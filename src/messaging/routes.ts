import { routes as contacts } from './contacts/routes.js';

/** Every endpoint of the messaging service, under the names of the client's methods. */
export const routes = { contacts };
