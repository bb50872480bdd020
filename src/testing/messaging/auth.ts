import { email, filled, required } from '../core/checks.js';
import { Refusal } from '../core/http.js';
import type { FakeAnswer, FakeRequest, Handlers } from '../core/types.js';
import { sessionCookie, sessionToken } from './access.js';
import { forbidden, invalidField, isoNow, readBody, stateConflict } from './resource.js';
import type { MailedToken, MessagingWorld, Scope, User } from './state.js';

/** The bodies of these endpoints are not shown. */
export const handlers: Handlers<Scope> = {
  'POST /auth/login': login,
  'POST /auth/signup': signup,
  'GET /auth/logout': logout,
  'GET /auth/oauth-config': () => ({ body: { providers: [] } }),
  'POST /auth/verify-email': verifyEmail,
  'POST /auth/request-verification': (request, scope) => mail(request, scope, 'verify-email'),
  'POST /auth/request-password-reset': (request, scope) => mail(request, scope, 'reset-password'),
  'POST /auth/reset-password': resetPassword,

  'GET /users/@me': (_request, { user }) => {
    if (user === undefined) {
      throw forbidden('The project has no owner.');
    }
    return { body: userView(user) };
  },
};

const loginRules = { email: required(email), password: required(filled()) };
const tokenRules = { token: required(filled()) };

const done: FakeAnswer = { body: { success: true } };

/** messaging, Authentication 6: a JWT cookie. */
function login(request: FakeRequest, { world }: Scope): FakeAnswer {
  const { email: address, password } = readBody(request, loginRules);
  const user = userByEmail(world, address);
  if (user?.password !== password) {
    throw new Refusal(401, 'UNAUTHORIZED', 'The email or the password is wrong.');
  }
  const token = sessionJwt(world, user);
  world.sessions.set(token, user.id);
  return { body: { user: userView(user) }, headers: { 'Set-Cookie': cookie(token, 604_800) } };
}

function signup(request: FakeRequest, { world }: Scope): FakeAnswer {
  if (world.settings.disableSignups) {
    throw forbidden('Signing up is disabled.');
  }
  const account = readBody(request, loginRules);
  if (userByEmail(world, account.email)) {
    throw stateConflict(`${account.email} is signed up.`);
  }
  const user = addUser(world, account);
  mailToken(world, user, 'verify-email');
  return { status: 201, body: { user: userView(user) } };
}

function logout(request: FakeRequest, { world }: Scope): FakeAnswer {
  world.sessions.delete(sessionToken(request) ?? '');
  return { ...done, headers: { 'Set-Cookie': cookie('', 0) } };
}

function cookie(value: string, maxAgeSeconds: number): string {
  return `${sessionCookie}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`;
}

function verifyEmail(request: FakeRequest, { world }: Scope): FakeAnswer {
  const { token } = readBody(request, tokenRules);
  takeToken(world, token, 'verify-email').isVerified = true;
  return done;
}

/** Returns the same response whether or not the email is known, so that accounts cannot be guessed. */
function mail(
  request: FakeRequest,
  { world }: Scope,
  purpose: 'verify-email' | 'reset-password',
): FakeAnswer {
  const user = userByEmail(world, readBody(request, { email: required(email) }).email);
  if (user !== undefined) {
    mailToken(world, user, purpose);
  }
  return done;
}

function resetPassword(request: FakeRequest, { world }: Scope): FakeAnswer {
  const { token, password } = readBody(request, { ...tokenRules, password: required(filled()) });
  takeToken(world, token, 'reset-password').password = password;
  return done;
}

/** Stands in for an email with a link: tests find the token in `world.mailedTokens`. */
function mailToken(world: MessagingWorld, user: User, purpose: MailedToken['purpose']): void {
  const token = world.id('token');
  world.mailedTokens.push({ token, purpose, userId: user.id, email: user.email, isUsed: false });
}

/** The user that a token was mailed to; a token works once. */
function takeToken(world: MessagingWorld, token: string, purpose: MailedToken['purpose']): User {
  const mailed = world.mailedTokens.find((other) => other.token === token);
  const user = world.users.get(mailed?.userId ?? '');
  if (mailed?.purpose !== purpose || mailed.isUsed || user === undefined) {
    throw invalidField('token', 'The token is invalid or was used.');
  }
  mailed.isUsed = true;
  return user;
}

/** A token with the three parts of a JWT; its signature signs nothing. */
function sessionJwt(world: MessagingWorld, user: User): string {
  const header = { alg: 'HS256', typ: 'JWT' };
  const claims = { sub: user.id, iat: Math.floor(world.clock.now() / 1000) };
  return [encode(header), encode(claims), world.id('signature')].join('.');
}

function encode(part: object): string {
  return btoa(JSON.stringify(part)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** A new account. */
export function addUser(world: MessagingWorld, account: Pick<User, 'email' | 'password'>): User {
  const id = world.id('usr');
  const user: User = { id, ...account, isVerified: false, createdAt: isoNow({ world }) };
  world.users.set(id, user);
  return user;
}

export function userByEmail(world: MessagingWorld, address: string): User | undefined {
  const wanted = address.toLowerCase();
  return [...world.users.values()].find((user) => user.email.toLowerCase() === wanted);
}

/** A user without the password. */
function userView({ id, email: address, isVerified, createdAt }: User) {
  return { id, email: address, isVerified, createdAt };
}
