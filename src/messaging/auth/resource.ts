import type { Call, RequestOptions } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type { Transport } from '../../core/send.js';
import { routes } from './routes.js';
import type {
  AccountEmail,
  Credentials,
  EmailVerification,
  OAuthConfig,
  PasswordReset,
  SignedIn,
} from './types.js';

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
   * Signs in. The client keeps the session cookie for its calls of `users` and `projects`, and takes no
   * second sign-in before `logout()` (`SESSION_IN_USE`): create a client for each person. In a
   * browser the browser keeps the cookie.
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
