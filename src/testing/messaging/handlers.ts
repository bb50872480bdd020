import { type Handlers } from '../core/types.js';
import { handlers as auth } from './auth/handlers.js';
import { handlers as config } from './config/handlers.js';
import { handlers as contacts } from './contacts/handlers.js';
import { handlers as emails } from './emails/handlers.js';
import { handlers as events } from './events/handlers.js';
import { handlers as projects } from './projects/handlers.js';
import { type Scope } from './state.js';
import { handlers as uploads } from './uploads/handlers.js';
import { handlers as users } from './users/handlers.js';

/** Every endpoint of the messaging service. */
export const handlers: Handlers<Scope> = {
  ...emails,
  ...contacts,
  ...events,
  ...uploads,
  ...config,
  ...auth,
  ...users,
  ...projects,
};
