import type { Handlers } from '../../core/types.js';
import { forbidden } from '../find.js';
import type { Scope } from '../state.js';
import { userView } from './accounts.js';

export const handlers: Handlers<Scope> = {
  'GET /users/@me': (_request, { user }) => {
    if (user === undefined) {
      throw forbidden('The project has no owner.');
    }
    return { body: userView(user) };
  },
};
