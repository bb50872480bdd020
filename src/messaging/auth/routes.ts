import type { Acknowledgement } from '../../core/values.js';
import { of, route, type KeyRule } from '../../core/route.js';
import type {
  AccountEmail,
  Credentials,
  EmailVerification,
  OAuthConfig,
  PasswordReset,
  SignedIn,
} from './types.js';

const key: KeyRule = 'none'; // sign-in comes before any key
const takesOnce = false; // a journal is no place for passwords and sessions

export const routes = {
  login: route('POST /auth/login', {
    key,
    takesOnce,
    body: of<Credentials>(),
    returns: of<SignedIn>(),
  }),
  signup: route('POST /auth/signup', {
    key,
    takesOnce,
    body: of<Credentials>(),
    returns: of<SignedIn>(),
  }),
  // A GET that acts: the cookie is dropped, twice as well as once.
  logout: route('GET /auth/logout', { key, returns: of<Acknowledgement>() }),
  oauthConfig: route('GET /auth/oauth-config', { key, returns: of<OAuthConfig>() }),
  verifyEmail: route('POST /auth/verify-email', {
    key,
    takesOnce,
    body: of<EmailVerification>(),
    returns: of<Acknowledgement>(),
  }),
  requestVerification: route('POST /auth/request-verification', {
    key,
    takesOnce,
    body: of<AccountEmail>(),
    returns: of<Acknowledgement>(),
  }),
  requestPasswordReset: route('POST /auth/request-password-reset', {
    key,
    takesOnce,
    body: of<AccountEmail>(),
    returns: of<Acknowledgement>(),
  }),
  resetPassword: route('POST /auth/reset-password', {
    key,
    takesOnce,
    body: of<PasswordReset>(),
    returns: of<Acknowledgement>(),
  }),
};

/** The session of a signed-in user, for calls that no row describes too. */
export const session = {
  prefix: '/auth/',
  starts: [routes.login.path, routes.signup.path],
  end: routes.logout.path,
};
