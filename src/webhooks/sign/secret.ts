import { ConfigurationError } from '../../core/errors.js';

/**
 * The secret by which addresses are signed, or several of them.
 *
 * New addresses are signed with the first secret; callbacks to addresses signed with any of them are
 * accepted. To rotate, put the new secret first and remove the old one once its addresses have expired.
 */
export type WebhookSecret = string | readonly string[];

const minLength = 16;

/** Returns all secrets, the one for new addresses first. Throws for a secret that could be guessed. */
export function secretsOf(secret: unknown): readonly [string, ...string[]] {
  const secrets: unknown[] = Array.isArray(secret) ? secret : [secret];
  const [first, ...others] = secrets.map(checkSecret);
  if (first !== undefined) {
    return [first, ...others];
  }
  throw invalidSecret('must not be an empty list');
}

function checkSecret(secret: unknown): string {
  if (typeof secret === 'string' && secret.length >= minLength) {
    return secret;
  }
  throw invalidSecret(`must be a string of at least ${minLength} characters`);
}

// The message never shows a secret.
function invalidSecret(rule: string): ConfigurationError {
  return new ConfigurationError(
    `The webhook's \`secret\` ${rule}. Use 32 random bytes as hexadecimal digits.`,
    { code: 'INVALID_OPTION' },
  );
}
