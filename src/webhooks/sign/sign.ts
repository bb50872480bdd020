import { ConfigurationError, InvalidRequestError } from '../../errors/index.js';
import { canonicalText, isOurs, parameters } from './canonical.js';
import { randomHex, sign } from './hmac.js';
import { checkSecret } from './secret.js';

/** How long a signed address is good for. */
export interface ExpiryOptions {
  /**
   * How long callbacks to this address are accepted, in milliseconds.
   * @default 86_400_000 (a day)
   */
  expiresIn?: number | undefined;
}

/** How to sign an address. */
export interface SignOptions extends ExpiryOptions {
  /** At least 16 characters that only your servers know; one for each environment. */
  secret: string;
}

const aDayMs = 86_400_000;
const nonceBytes = 16;

/**
 * Makes an address for one callback: the given one with a nonce, an expiry and a signature over
 * path, query, nonce and expiry. Sign a fresh one for each job.
 * @example
 * const webhook = await signWebhookUrl('https://shop.example/media-done', { secret });
 * await media.generate.audio({ content: 'Good morning!', voiceId: 'voice_1', webhook });
 */
export async function signWebhookUrl(url: string | URL, options: SignOptions): Promise<string> {
  const { secret, expiresIn = aDayMs } = options;
  checkSecret(secret);
  const signed = parse(url);
  const nonce = randomHex(nonceBytes);
  const expires = String(expiryOf(expiresIn));
  const signature = await sign(secret, canonicalText(signed, nonce, expires));
  // Appended as text: `searchParams` would rewrite the escapes of the query that is there.
  const added = new URLSearchParams({
    [parameters.nonce]: nonce,
    [parameters.expires]: expires,
    [parameters.signature]: signature,
  });
  signed.search = [...withoutOurs(signed), added.toString()].join('&');
  return signed.href;
}

function parse(url: string | URL): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && /^https?:$/.test(parsed.protocol)) {
    parsed.hash = ''; // never sent
    return parsed;
  }
  const message = 'must be an absolute http(s) address that the service can reach';
  throw new InvalidRequestError(`The webhook's \`url\` ${message}.`, {
    code: 'INVALID_REQUEST',
    outcome: 'not-sent',
    fieldErrors: [{ field: 'url', message }],
  });
}

function expiryOf(expiresIn: number): number {
  const expires = Math.ceil(Date.now() + expiresIn);
  if (expiresIn > 0 && Number.isSafeInteger(expires)) {
    return expires;
  }
  throw new ConfigurationError('`expiresIn` must be a number of milliseconds above 0.', {
    code: 'INVALID_OPTION',
  });
}

// An address that was signed before is signed anew.
function withoutOurs({ search }: URL): string[] {
  return search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !isOurs(pair.split('=', 1)[0] ?? ''));
}
