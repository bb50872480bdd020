import type { WebhookResult } from '../../contract/inbox.js';
import { WebhookVerificationError } from '../../errors/index.js';
import { parseCallback } from './callback-body.js';
import { checkUrl } from '../sign/check-url.js';
import { readBody } from './read-body.js';
import { checkSecret } from '../sign/secret.js';
import { memorySeen, type SeenStore } from './replay-store.js';

/** A callback where there is no Fetch `Request`. */
export interface CallbackParts {
  /** The address as it was called: absolute, or path and query. */
  url: string;
  /** A Node or web stream, text, bytes, or what a JSON parser made of it. */
  body: unknown;
}

/** How to verify a callback. */
export interface VerifyOptions {
  /** The secret that its address was signed with. */
  secret: string;
  /** Which addresses have had their callback. @default one in this process's memory */
  seen?: SeenStore | undefined;
  /** The time, in milliseconds since 1970. @default now */
  now?: number | undefined;
}

/** A callback that is what it claims to be. */
export interface VerifiedWebhook extends WebhookResult {
  /** Identifies its address: `seen.release(nonce)` lets the callback come again. */
  readonly nonce: string;
}

let sharedSeen: SeenStore | undefined;

/**
 * Reads a callback to an address of `signWebhookUrl()`, at most once. Signature and expiry are
 * checked before the body is read. The service writes the body, so no signature covers it.
 * @throws a `WebhookVerificationError` whose `code` says why the callback is refused
 * @example
 * const { fileId, status, url } = await verifyWebhook(request, { secret });
 */
export async function verifyWebhook(
  callback: Request | CallbackParts,
  options: VerifyOptions,
): Promise<VerifiedWebhook> {
  const { secret, now = Date.now(), seen = (sharedSeen ??= memorySeen()) } = options;
  checkSecret(secret);
  const { nonce, expiresAt } = await checkUrl(callback.url, { secret, now });
  const result = parseCallback(await readBody(callback.body));
  if (await seen.claim(nonce, expiresAt)) {
    return { ...result, nonce };
  }
  throw new WebhookVerificationError(
    'REPLAYED',
    `The callback for ${result.fileId} came to an address that has had its callback.`,
  );
}
