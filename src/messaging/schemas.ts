import { schemas as activity } from './activity.schemas.js';
import { schemas as analytics } from './analytics.schemas.js';
import { schemas as auth } from './auth.schemas.js';
import { schemas as campaigns } from './campaigns.schemas.js';
import { schemas as config } from './config.schemas.js';
import { schemas as contacts } from './contacts.schemas.js';
import { schemas as domains } from './domains.schemas.js';
import { schemas as emails } from './emails.schemas.js';
import { schemas as events, trackingSchemas as tracking } from './events.schemas.js';
import { schemas as projects } from './projects.schemas.js';
import { schemas as segments } from './segments.schemas.js';
import { schemas as templates } from './templates.schemas.js';
import { schemas as uploads } from './uploads.schemas.js';
import { schemas as users } from './users.schemas.js';
import { schemas as workflows } from './workflows.schemas.js';

/** The schemas of every endpoint, under the same names as the routes. This module is loaded only on demand. */
export const schemas = {
  ...emails,
  ...tracking,
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
