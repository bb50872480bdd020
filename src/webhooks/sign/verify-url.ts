import { WebhookVerificationError } from '../../core/errors.js';
import { canonicalTextOf, parameters } from './canonical.js';
import { isSignature } from './hmac.js';

/** The address of a callback, after its signature was verified. */
export interface SignedAddress {
  readonly nonce: string;
  /** The expiry, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The options of {@link verifyUrl}. */
export interface UrlCheck {
  readonly secrets: readonly string[];
  readonly now: number;
}

/** Checks the signature of an address (absolute, or from its path on) and then its expiry. */
export async function verifyUrl(url: string, { secrets, now }: UrlCheck): Promise<SignedAddress> {
  const parsed = parse(url);
  const nonce = readParameter(parsed, 'nonce');
  const expires = readParameter(parsed, 'expires');
  const signature = readParameter(parsed, 'signature');
  const signed = parsed.searchParams.getAll(parameters.signed).join(',');
  const text = canonicalTextOf(parsed, { signed, nonce, expires });
  if (!(await isSignedWithAny(secrets, signature, text))) {
    throw new WebhookVerificationError(
      'SIGNATURE_INVALID',
      "The callback's signature does not match its path and query. Is the `secret` the same, and does a proxy change the path?",
    );
  }
  const expiresAt = Number(expires);
  if (now < expiresAt) {
    return { nonce, expiresAt };
  }
  throw new WebhookVerificationError(
    'EXPIRED',
    'The callback came after its address expired. Sign the address with a longer `expiresIn`.',
  );
}

async function isSignedWithAny(
  secrets: readonly string[],
  signature: string,
  text: string,
): Promise<boolean> {
  for (const secret of secrets) {
    if (await isSignature(signature, secret, text)) {
      return true;
    }
  }
  return false;
}

// Parses an address. A path that starts with two slashes must not be taken for a host.
function parse(url: string): URL {
  const absolute = url.startsWith('/') ? `http://localhost${url}` : url;
  if (URL.canParse(absolute)) {
    return new URL(absolute);
  }
  throw missingSignature();
}

function readParameter({ searchParams }: URL, name: keyof typeof parameters): string {
  const [value, ...others] = searchParams.getAll(parameters[name]);
  if (value && others.length === 0) {
    return value;
  }
  throw missingSignature();
}

function missingSignature(): WebhookVerificationError {
  return new WebhookVerificationError(
    'SIGNATURE_MISSING',
    "The callback's address is not signed. Create it with `signWebhookUrl()`, and pass on the whole path and query.",
  );
}
