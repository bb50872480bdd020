import type { MessagingWorld, User } from '../state.js';

/** A token with the three parts of a JWT; its signature signs nothing. */
export function sessionJwt(world: MessagingWorld, user: User): string {
  const header = { alg: 'HS256', typ: 'JWT' };
  const claims = { sub: user.id, iat: Math.floor(world.clock.now() / 1000) };
  return [encode(header), encode(claims), world.id('signature')].join('.');
}

function encode(part: object): string {
  return btoa(JSON.stringify(part)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
