import { ConfigurationError } from '../../errors/index.js';

const fewestCharacters = 16;

/** Refuses a secret that could be guessed. The message never shows it. */
export function checkSecret(secret: unknown): void {
  if (typeof secret === 'string' && secret.length >= fewestCharacters) {
    return;
  }
  throw new ConfigurationError(
    `The webhook's \`secret\` must be a text of at least ${fewestCharacters} characters. Use 32 random bytes as hex.`,
    { code: 'INVALID_OPTION' },
  );
}
