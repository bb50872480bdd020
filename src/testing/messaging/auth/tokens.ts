import { invalidField } from '../validate.js';
import type { MailedToken, MessagingWorld, User } from '../state.js';

/** Stands in for an email with a link: tests find the token in `world.mailedTokens`. */
export function mailToken(
  world: MessagingWorld,
  user: User,
  purpose: MailedToken['purpose'],
): void {
  const token = world.id('token');
  const { id: userId, email } = user;
  world.mailedTokens.push({ token, purpose, userId, email, isUsed: false });
}

/** The user that a token was mailed to; a token works once. */
export function takeToken(
  world: MessagingWorld,
  token: string,
  purpose: MailedToken['purpose'],
): User {
  const mailed = world.mailedTokens.find((other) => other.token === token);
  const user = world.users.get(mailed?.userId ?? '');
  if (mailed?.purpose !== purpose || mailed.isUsed || user === undefined) {
    throw invalidField('token', 'The token is invalid or was used.');
  }
  mailed.isUsed = true;
  return user;
}

/** A token with the three parts of a JWT; its signature signs nothing. */
export function sessionJwt(world: MessagingWorld, user: User): string {
  const header = { alg: 'HS256', typ: 'JWT' };
  const claims = { sub: user.id, iat: Math.floor(world.clock.now() / 1000) };
  return [encode(header), encode(claims), world.id('signature')].join('.');
}

function encode(part: object): string {
  return btoa(JSON.stringify(part)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
