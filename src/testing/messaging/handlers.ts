import type { Handlers } from '../core/types.js';
import { handlers as activity } from './activity/handlers.js';
import { handlers as analytics } from './analytics/handlers.js';
import { handlers as auth } from './auth/handlers.js';
import { handlers as campaigns } from './campaigns/handlers.js';
import { handlers as config } from './config/handlers.js';
import { handlers as contacts } from './contacts/handlers.js';
import { handlers as domains } from './domains/handlers.js';
import { handlers as emails } from './emails/handlers.js';
import { handlers as events } from './events/handlers.js';
import { handlers as projects } from './projects/handlers.js';
import { handlers as segments } from './segments/handlers.js';
import type { Scope } from './state.js';
import { handlers as templates } from './templates/handlers.js';
import { handlers as uploads } from './uploads/handlers.js';
import { handlers as users } from './users/handlers.js';
import { handlers as workflows } from './workflows/handlers.js';

/** Every endpoint of the messaging service. */
export const handlers: Handlers<Scope> = {
  ...emails,
  ...contacts,
  ...templates,
  ...campaigns,
  ...segments,
  ...workflows,
  ...events,
  ...domains,
  ...activity,
  ...analytics,
  ...uploads,
  ...config,
  ...auth,
  ...users,
  ...projects,
};
