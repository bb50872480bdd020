import type { MessagingWorld, User } from '../state.js';

export function addUser(
  world: MessagingWorld,
  { email, password }: { readonly email: string; readonly password: string },
): User {
  const id = world.id('usr');
  const user: User = { id, email, password, isVerified: false, createdAt: world.clock.date() };
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
