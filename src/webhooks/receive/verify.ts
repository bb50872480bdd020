import { anything, atLeast, readOptions, type OptionKinds } from '../../core/options.js';
import type { WebhookResult } from '../../core/types.js';
import { WebhookVerificationError } from '../../core/errors.js';
import { parseCallback } from './callback-body.js';
import { verifyUrl, type SignedAddress } from '../sign/verify-url.js';
import { readBody } from './read-body.js';
import { secretsOf, type WebhookSecret } from '../sign/secret.js';
import { memorySeen, seenStore, type SeenStore } from './replay-store.js';

/** A callback on servers without a Fetch `Request`. */
export interface CallbackParts {
  /** The URL that was called: absolute, or path and query. */
  url: string;
  /** A Node or web stream, a string, bytes, or the value of a JSON parser. */
  body: unknown;
}

/** Options of {@link verifyWebhook}. */
export interface VerifyOptions {
  /** The secret that signed the address, or several secrets in use. */
  secret: WebhookSecret;
  /** Remembers the addresses that have received their callback. @default this process's memory */
  seen?: SeenStore | undefined;
  /** The time, in milliseconds since 1970. @default now */
  now?: number | undefined;
}

const verifyOptions: OptionKinds<VerifyOptions> = {
  secret: anything(), // the error of this option never contains its value
  seen: seenStore,
  now: atLeast(0),
};

/** A callback that has been verified. */
export interface VerifiedWebhook extends WebhookResult {
  /** Identifies the address: `seen.release(nonce)` lets the callback be accepted again. */
  readonly nonce: string;
}

let sharedSeen: SeenStore | undefined;

/**
 * Verifies a callback to an address of `signWebhookUrl()` and accepts it once. Signature and expiry
 * are checked before the body is read: at most 64 KB, within 4 s. The body is written by the
 * service, so the signature does not cover it.
 * @throws a `WebhookVerificationError` whose `code` is the reason of the refusal
 * @example
 * const { fileId, status, url } = await verifyWebhook(request, { secret });
 */
export async function verifyWebhook(
  callback: Request | CallbackParts,
  options: VerifyOptions,
): Promise<VerifiedWebhook> {
  sharedSeen ??= memorySeen();
  const {
    secret,
    now = Date.now(),
    seen = sharedSeen,
  } = readOptions(options, verifyOptions, {
    name: '`verifyWebhook()`',
    example: '{ secret }',
  });
  const { nonce, expiresAt, result } = await readCallback(callback, { secret, now });
  if (await seen.claim(nonce, expiresAt)) {
    return { ...result, nonce };
  }
  throw replayedError(result);
}

/** Reads the body of a callback, after its address was verified. */
export async function readCallback(
  callback: Request | CallbackParts,
  { secret, now }: { readonly secret: WebhookSecret; readonly now: number },
): Promise<SignedAddress & { readonly result: WebhookResult }> {
  const address = await verifyUrl(callback.url, { secrets: secretsOf(secret), now });
  return { ...address, result: parseCallback(await readBody(callback.body)) };
}

/** The error for an address that is used a second time. */
export function replayedError({ fileId }: WebhookResult): WebhookVerificationError {
  return new WebhookVerificationError(
    'REPLAYED',
    `The callback for ${fileId} came to an address that has already had its callback.`,
  );
}
