import { routes as activity } from './activity/routes.js';
import { routes as analytics } from './analytics/routes.js';
import { routes as auth } from './auth/routes.js';
import { routes as campaigns } from './campaigns/routes.js';
import { routes as config } from './config/routes.js';
import { routes as contacts } from './contacts/routes.js';
import { routes as domains } from './domains/routes.js';
import { routes as emails } from './emails/routes.js';
import { routes as events, trackingRoutes as tracking } from './events/routes.js';
import { routes as projects } from './projects/routes.js';
import { routes as segments } from './segments/routes.js';
import { routes as templates } from './templates/routes.js';
import { routes as uploads } from './uploads/routes.js';
import { routes as users } from './users/routes.js';
import { routes as workflows } from './workflows/routes.js';

/** Every endpoint of the messaging service, under the names of the client's methods. */
export const routes = {
  send: emails.send,
  verify: emails.verify,
  track: tracking.track,
  contacts,
  templates,
  campaigns,
  segments,
  workflows,
  events,
  domains,
  activity,
  analytics,
  uploads,
  config,
  auth,
  users,
  projects,
};
