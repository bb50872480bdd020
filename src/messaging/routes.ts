import { routes as activity } from './activity.js';
import { routes as analytics } from './analytics.js';
import { routes as auth } from './auth.js';
import { routes as campaigns } from './campaigns.js';
import { routes as config } from './config.js';
import { routes as contacts } from './contacts.js';
import { routes as domains } from './domains.js';
import { routes as emails } from './emails.js';
import { routes as events, trackingRoutes as tracking } from './events.js';
import { routes as projects } from './projects.js';
import { routes as segments } from './segments.js';
import { routes as templates } from './templates.js';
import { routes as uploads } from './uploads.js';
import { routes as users } from './users.js';
import { routes as workflows } from './workflows.js';

/** Every endpoint of the messaging service, under the names of the client's methods. The rows are in these files. */
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
