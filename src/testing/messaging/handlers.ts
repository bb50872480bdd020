import type { Handlers } from '../core/types.js';
import { handlers as activity } from './activity.js';
import { handlers as analytics } from './analytics.js';
import { handlers as auth } from './auth.js';
import { handlers as campaigns } from './campaigns.js';
import { handlers as contacts } from './contacts.js';
import { handlers as domains } from './domains.js';
import { handlers as emails } from './emails.js';
import { handlers as events } from './events.js';
import { handlers as projects } from './projects.js';
import { handlers as segments } from './segments.js';
import type { Scope } from './state.js';
import { handlers as templates } from './templates.js';
import { handlers as uploads } from './uploads.js';
import { handlers as users } from './users.js';
import { handlers as workflows } from './workflows.js';

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
  ...auth,
  ...users,
  ...projects,

  // messaging, /config: feature flags of enabled integrations; their names are not shown.
  'GET /config': (_request, { world }) => ({
    body: {
      signups: !world.settings.disableSignups,
      billing: true,
      emailVerification: true,
      oauth: { github: false, google: false },
    },
  }),
};
