import type { Acknowledgement, OpenInput, OpenRecord } from '../core/values.js';
import { ofType, route, type KeyRule, type MethodsFor } from '../core/call/route.js';
import type { Call, RequestOptions } from '../core/types.js';
import type { Transport } from '../core/call/send.js';
import { normalizeEmailsIn } from './shared/values.js';

const key: KeyRule = 'none'; // a program signs in before it has a key
const takesOnce = false; // passwords and sessions must not be stored in a journal

export const routes = {
  login: route('POST /auth/login', {
    key,
    takesOnce,
    body: ofType<Credentials>(),
    normalize: normalizeEmailsIn('email'),
    returns: ofType<SignedIn>(),
  }),
  signup: route('POST /auth/signup', {
    key,
    takesOnce,
    body: ofType<Credentials>(),
    normalize: normalizeEmailsIn('email'),
    returns: ofType<SignedIn>(),
  }),
  // A GET with an effect. It may be retried: dropping the cookie twice is the same as dropping it once.
  logout: route('GET /auth/logout', { key, returns: ofType<Acknowledgement>() }),
  oauthConfig: route('GET /auth/oauth-config', { key, returns: ofType<OAuthConfig>() }),
  verifyEmail: route('POST /auth/verify-email', {
    key,
    takesOnce,
    body: ofType<EmailVerification>(),
    returns: ofType<Acknowledgement>(),
  }),
  requestVerification: route('POST /auth/request-verification', {
    key,
    takesOnce,
    body: ofType<AccountEmail>(),
    normalize: normalizeEmailsIn('email'),
    returns: ofType<Acknowledgement>(),
  }),
  requestPasswordReset: route('POST /auth/request-password-reset', {
    key,
    takesOnce,
    body: ofType<AccountEmail>(),
    normalize: normalizeEmailsIn('email'),
    returns: ofType<Acknowledgement>(),
  }),
  resetPassword: route('POST /auth/reset-password', {
    key,
    takesOnce,
    body: ofType<PasswordReset>(),
    returns: ofType<Acknowledgement>(),
  }),
};

/** The account that signs in or up. The service does not document these names. */
export interface Credentials extends OpenInput {
  email?: string | undefined;
  password?: string | undefined;
}

/** The account that signed in or up. The service does not document its fields. */
export interface SignedIn extends Acknowledgement {}

/** The sign-in providers that are configured. The service does not document its fields. */
export interface OAuthConfig extends OpenRecord {}

/** The token of a verification email. The service does not document this name. */
export interface EmailVerification extends OpenInput {
  token?: string | undefined;
}

/** The account to send an email to. The service does not document this name. */
export interface AccountEmail extends OpenInput {
  email?: string | undefined;
}

/**
 * The token of a reset email with the new password. The service does not document these
 * names.
 */
export interface PasswordReset extends OpenInput {
  token?: string | undefined;
  password?: string | undefined;
}

/**
 * Sign-up and sign-in of people. No call here needs a key.
 * @example
 * const messaging = new MessagingClient({ apiKey: null, baseUrl });
 * await messaging.auth.login({ email: 'ann@example.com', password });
 * for await (const project of messaging.projects.list()) console.log(project);
 */
export class Auth implements MethodsFor<typeof routes> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Signs in. The client keeps the session cookie for its calls of `users` and `projects`, and rejects a
   * second sign-in before `logout()` (`SESSION_IN_USE`): create a client for each person. In a
   * browser, the browser keeps the cookie.
   */
  login(body: Credentials, options?: RequestOptions): Call<SignedIn> {
    return this.#transport.send(routes.login, { body }, options);
  }

  /** Signs up. Rejected by a service that does not allow sign-ups. */
  signup(body: Credentials, options?: RequestOptions): Call<SignedIn> {
    return this.#transport.send(routes.signup, { body }, options);
  }

  /** Signs out and drops the session cookie. */
  logout(options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.logout, {}, options);
  }

  /** Gets the sign-in providers that are configured. */
  oauthConfig(options?: RequestOptions): Call<OAuthConfig> {
    return this.#transport.send(routes.oauthConfig, {}, options);
  }

  /** Verifies an account's email with the token that was sent to it. */
  verifyEmail(body: EmailVerification, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.verifyEmail, { body }, options);
  }

  /** Sends the verification email again. */
  requestVerification(body: AccountEmail, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.requestVerification, { body }, options);
  }

  /** Sends an email with a token to reset the password. */
  requestPasswordReset(body: AccountEmail, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.requestPasswordReset, { body }, options);
  }

  /** Sets a new password with the token that was sent. */
  resetPassword(body: PasswordReset, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.resetPassword, { body }, options);
  }
}
