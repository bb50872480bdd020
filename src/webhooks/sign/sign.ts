import { anything, milliseconds, readOptions, type OptionKinds } from '../../core/options.js';
import { ConfigurationError, InvalidRequestError } from '../../core/errors.js';
import { canonicalTextOf, isSignatureParameter, namesToSign, parameters } from './canonical.js';
import { randomHex, sign } from './hmac.js';
import { secretsOf, type WebhookSecret } from './secret.js';

/** The validity of a signed address. */
export interface ExpiryOptions {
  /**
   * How long callbacks to this address are accepted, in milliseconds.
   * @default 86_400_000 (a day)
   */
  expiresIn?: number | undefined;
}

/** The kinds of {@link ExpiryOptions}. */
export const expiryOptions: OptionKinds<ExpiryOptions> = { expiresIn: milliseconds };

/** Options of {@link signWebhookUrl}. */
export interface SignOptions extends ExpiryOptions {
  /**
   * A secret of at least 16 characters that only your servers know. Use a different one in each environment.
   */
  secret: WebhookSecret;
}

const aDayMs = 86_400_000;
const nonceBytes = 16;

/**
 * Signs an address for a single callback: adds a nonce, an expiry and a signature over path, query,
 * nonce and expiry. Sign a fresh address for each job.
 * @throws an `InvalidRequestError` for an address that is not absolute
 * @example
 * const webhook = await signWebhookUrl('https://shop.example/media-done', { secret });
 * await media.generate.audio({ content: 'Good morning!', voiceId: 'voice_1', webhook });
 */
export async function signWebhookUrl(url: string | URL, options: SignOptions): Promise<string> {
  const { secret, expiresIn = aDayMs } = readOptions(
    options,
    { secret: anything(), ...expiryOptions },
    { name: '`signWebhookUrl()`', example: '{ secret }' },
  );
  const [newest] = secretsOf(secret);
  const target = parse(url);
  const nonce = randomHex(nonceBytes);
  const expires = String(expiryOf(expiresIn));
  const signed = namesToSign(target);
  const signature = await sign(newest, canonicalTextOf(target, { signed, nonce, expires }));
  const added = new URLSearchParams(signed === '' ? {} : { [parameters.signed]: signed });
  added.set(parameters.nonce, nonce);
  added.set(parameters.expires, expires);
  added.set(parameters.signature, signature);
  // Append the parameters as text: `searchParams` would rewrite the escapes of the existing query.
  target.search = [...removeSignature(target), added.toString()].join('&');
  return target.href;
}

function parse(url: string | URL): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && /^https?:$/.test(parsed.protocol)) {
    parsed.hash = ''; // never sent
    return parsed;
  }
  const message = 'must be an absolute http(s) URL that the service can reach';
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

// Removes earlier signature parameters, so that an address that was signed before gets a new signature.
function removeSignature({ search }: URL): string[] {
  return search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !isSignatureParameter(pair.split('=', 1)[0] ?? ''));
}
