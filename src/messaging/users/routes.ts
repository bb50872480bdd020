import { of, route } from '../../contract/route.js';
import type { User } from './types.js';

export const routes = {
  me: route('GET /users/@me', {
    returns: of<User>(),
    key: 'secret-or-session', // an account route (open points, Sessions)
  }),
};
