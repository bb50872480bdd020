import type { Handlers } from '../core/types.js';
import { forbidden } from './find.js';
import type { Scope, MessagingWorld, User } from './state.js';

export const handlers: Handlers<Scope> = {
  'GET /users/@me': (_request, { user }) => {
    if (user === undefined) {
      throw forbidden('The project has no owner.');
    }
    return { body: userView(user) };
  },
};

export function addUser(
  world: MessagingWorld,
  { email, password }: { readonly email: string; readonly password: string },
): User {
  const id = world.id('usr');
  const user: User = {
    id,
    email,
    password,
    isVerified: false,
    createdAt: world.clock.date().toISOString(),
  };
  world.users.set(id, user);
  return user;
}

export function userByEmail(world: MessagingWorld, email: string): User | undefined {
  const wanted = email.toLowerCase();
  return [...world.users.values()].find((user) => user.email.toLowerCase() === wanted);
}

/** A user without the password. */
export function userView({ id, email, isVerified, createdAt }: User) {
  return { id, email, isVerified, createdAt };
}
