import { callSafely, answerWithin, monotonicMs } from '../../core/async.js';
import { anything, callback, flag, type OptionKinds } from '../../core/options.js';
import type { WebhookResult } from '../../core/types.js';
import { ConfigurationError } from '../../core/errors.js';
import { fingerprint } from '../../core/fingerprint.js';
import { responseOf, accepted, handled, onlyPost, type CallbackResponse } from './answer.js';
import { confirm, type ReadStatus } from './confirm.js';
import type { WebhookSecret } from '../sign/secret.js';
import { memorySeen, seenStore, type SeenStore } from './replay-store.js';
import { readCallback, replayedError, type CallbackParts } from './verify.js';

/** The options of an inbox. */
export interface InboxOptions {
  /**
   * A secret of at least 16 characters that only your servers know. Use a different one in each environment.
   */
  secret: WebhookSecret;
  /**
   * Accepts a callback only if the status of the file confirms it, at once or within 3 s. @default true when
   * `status` is given
   */
  confirm?: boolean | undefined;
  /** Reads a file's status: `(fileId) => media.generate.status({ fileId })`. */
  status?: ReadStatus | undefined;
  /** Remembers the addresses that have received their callback. @default this process's memory */
  seen?: SeenStore | undefined;
  /** Called for each callback that was rejected or could not be handled. Errors it throws are ignored. */
  onError?: ((error: unknown) => void) | undefined;
}

const maxMs = 5_000;
// The time limit of a claim, counted from the arrival of the callback and including the time for reading its
// body, so that no response is sent before the claim is settled.
const maxClaimMs = 4_500;
const minClaimMs = 250;
const maxReleaseMs = 1_000;
/** The kinds of an inbox's options. */
export const inboxOptions: OptionKinds<InboxOptions> = {
  secret: anything(), // the error of this option never contains its value
  confirm: flag,
  status: callback(),
  seen: seenStore,
  onError: callback(),
};

type Callback = Awaited<ReturnType<typeof readCallback>>;

/** Responds to a callback within five seconds; never rejects. */
export type Receive = (
  method: string | undefined,
  callback: Request | CallbackParts,
) => Promise<CallbackResponse>;

/**
 * Verifies, confirms and handles callbacks. A callback that could not be handled is accepted again. A
 * repeated callback for the same file gets the same response as the first, since the sender would retry after
 * a rejection.
 */
export function createReceiver(
  options: InboxOptions,
  handle: (result: WebhookResult) => Promise<void>,
): Receive {
  const { secret, seen: given = memorySeen(), onError } = options;
  const readStatus = readStatusOf(options);
  const reportError = (error: unknown) => callSafely(() => onError?.(error));
  const inProgress = new Map<string, Promise<CallbackResponse>>();
  const acceptFirst = async (seen: SeenStore, claimKey: string, callback: Callback) => {
    const { nonce, expiresAt, result } = callback;
    const claimedKeys = [claimKey];
    try {
      if (!(await seen.claim(nonce, expiresAt))) {
        throw replayedError(result);
      }
      claimedKeys.push(nonce);
      await handle(readStatus ? await confirm(result, readStatus) : result);
      return handled;
    } catch (error) {
      await release(seen, claimedKeys).catch((failure: unknown) => reportError(failure));
      reportError(error);
      return responseOf(error);
    }
  };
  const handleCallback = async (received: Request | CallbackParts) => {
    try {
      const seen = limitClaimTime(given, monotonicMs() + maxClaimMs);
      const callback = await readCallback(received, { secret, now: Date.now() });
      const claimKey = `${callback.nonce}/${fingerprint(callback.result.fileId)}`;
      if (!(await seen.claim(claimKey, callback.expiresAt))) {
        return await (inProgress.get(claimKey) ?? handled);
      }
      const first = acceptFirst(seen, claimKey, callback);
      inProgress.set(claimKey, first);
      return await first.finally(() => inProgress.delete(claimKey));
    } catch (error) {
      reportError(error);
      return responseOf(error);
    }
  };
  return async (method, received) =>
    method === 'POST' ? respondInTime(handleCallback(received)) : onlyPost;
}

// Responds in time: the service may not wait long, and would treat a late response as a failure.
async function respondInTime(response: Promise<CallbackResponse>): Promise<CallbackResponse> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<CallbackResponse>((resolve) => {
    timer = setTimeout(() => resolve(accepted), maxMs);
  });
  return Promise.race([response, late]).finally(() => clearTimeout(timer));
}

// Limits the time of a claim: if the store hangs, the service must not believe that its callback is being
// handled.
function limitClaimTime(store: SeenStore, claimBy: number): SeenStore {
  return {
    claim(key, expiresAt) {
      const onLate = (isFirst: boolean) => (isFirst ? store.release(key) : undefined);
      const claimed = Promise.resolve(store.claim(key, expiresAt));
      const leftMs = Math.max(minClaimMs, claimBy - monotonicMs());
      return answerWithin(claimed, leftMs, { onLate, signal: undefined });
    },
    release: (key) =>
      answerWithin(Promise.resolve(store.release(key)), maxReleaseMs, {
        onLate: () => undefined,
        signal: undefined,
      }),
  };
}

// Releases keys. A store may be synchronous, and throw.
async function release(seen: SeenStore, keys: readonly string[]): Promise<void> {
  await Promise.all(
    keys.map(async (key) => {
      await seen.release(key);
    }),
  );
}

function readStatusOf(options: InboxOptions): ReadStatus | undefined {
  const { status, confirm: shouldConfirm = status !== undefined } = options;
  if (!shouldConfirm || status) {
    return shouldConfirm ? status : undefined;
  }
  throw new ConfigurationError(
    '`confirm: true` needs `status`. Pass `(fileId) => media.generate.status({ fileId })`.',
    { code: 'INVALID_OPTION' },
  );
}
