import type { Handlers } from '../../core/types.js';
import type { Scope } from '../state.js';

/** messaging, /config: feature flags of enabled integrations; their names are not shown. */
export const handlers: Handlers<Scope> = {
  'GET /config': (_request, { world }) => ({
    body: {
      signups: !world.settings.disableSignups,
      billing: true,
      emailVerification: true,
      oauth: { github: false, google: false },
    },
  }),
};
