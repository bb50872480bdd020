import { of, route } from '../../core/route.js';
import type { User } from './types.js';

export const routes = {
  me: route('GET /users/@me', {
    returns: of<User>(),
    // An account route; the document does not show which key it takes.
    key: 'secret-or-session',
  }),
};
