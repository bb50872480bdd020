import type { Acknowledgement, OpenRecord } from '../../contract/records.js';

/** Who signs in or up. The names are not given by the service's document. */
export interface Credentials extends OpenRecord {
  email?: string | undefined;
  password?: string | undefined;
}

/** Who signed in or up. The service's document does not show the fields. */
export interface SignedIn extends Acknowledgement {}

/** The sign-in providers that are configured. The service's document does not show the fields. */
export interface OAuthConfig extends OpenRecord {}

/** The token of a verification email. The name is not given by the service's document. */
export interface EmailVerification extends OpenRecord {
  token?: string | undefined;
}

/** Who wants an email. The name is not given by the service's document. */
export interface AccountEmail extends OpenRecord {
  email?: string | undefined;
}

/**
 * The token of a reset email with the new password. The names are not given by the service's
 * document.
 */
export interface PasswordReset extends OpenRecord {
  token?: string | undefined;
  password?: string | undefined;
}
