import type { Acknowledgement, OpenInput, OpenRecord } from '../../core/values.js';

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
