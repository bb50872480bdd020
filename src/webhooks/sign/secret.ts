import { ConfigurationError } from '../../core/errors.js';

/**
 * The secret that addresses are signed with, or several of them. New addresses are signed with the
 * first one; callbacks to addresses that were signed with any of them are accepted. To rotate, put
 * the new secret first and drop the old one once its addresses have expired.
 */
export type WebhookSecret = string | readonly string[];

const minLength = 16;

/** All secrets, the one for new addresses first. Refuses those that could be guessed. */
export function secretsOf(secret: unknown): readonly [string, ...string[]] {
  const secrets: unknown[] = Array.isArray(secret) ? secret : [secret];
  const [first, ...others] = secrets.map(checked);
  if (first !== undefined) {
    return [first, ...others];
  }
  throw invalid('must not be an empty list');
}

function checked(secret: unknown): string {
  if (typeof secret === 'string' && secret.length >= minLength) {
    return secret;
  }
  throw invalid(`must be a string of at least ${minLength} characters`);
}

// The message never shows a secret.
function invalid(rule: string): ConfigurationError {
  return new ConfigurationError(
    `The webhook's \`secret\` ${rule}. Use 32 random bytes as hexadecimal digits.`,
    { code: 'INVALID_OPTION' },
  );
}
