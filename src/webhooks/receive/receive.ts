import { callSafely, answerWithin, monotonicMs } from '../../core/async.js';
import { anything, callback, flag, type OptionKinds } from '../../core/options.js';
import type { WebhookResult } from '../../core/types.js';
import { ConfigurationError } from '../../core/errors.js';
import { answerTo, atWork, handled, onlyPost, type Answer } from './answer.js';
import { confirm, type ReadStatus } from './confirm.js';
import type { WebhookSecret } from '../sign/secret.js';
import { memorySeen, seenStore, type SeenStore } from './replay-store.js';
import { verifyWebhook, type CallbackParts } from './verify.js';

/** How an inbox works. */
export interface InboxOptions {
  /** At least 16 characters that only your servers have. Use another one in each environment. */
  secret: WebhookSecret;
  /**
   * Reads the status back and accepts a callback only when the status confirms it, at once or
   * within 3 s.
   * @default true when `status` is given
   */
  confirm?: boolean | undefined;
  /** Reads a file's status: `(fileId) => media.generate.status({ fileId })`. */
  status?: ReadStatus | undefined;
  /** Remembers which addresses have had their callback. @default this process's memory */
  seen?: SeenStore | undefined;
  /** Called for each callback that was refused or could not be handled. What it throws is ignored. */
  onError?: ((error: unknown) => void) | undefined;
}

const maxMs = 5_000;
// Since the callback came, so that the answer is not given before: the body takes its part of it.
const maxClaimMs = 4_500;
const minClaimMs = 250;
const maxReleaseMs = 1_000;
/** The kinds of an inbox's options. */
export const inboxOptions: OptionKinds<InboxOptions> = {
  secret: anything(), // its own check never repeats it
  confirm: flag,
  status: callback(),
  seen: seenStore,
  onError: callback(),
};

/** Answers a callback within five seconds; never rejects. */
export type Receive = (
  method: string | undefined,
  callback: Request | CallbackParts,
) => Promise<Answer>;

/** Verifies, confirms and handles callbacks. One that could not be handled is accepted again. */
export function receiver(
  options: InboxOptions,
  handle: (result: WebhookResult) => Promise<void>,
): Receive {
  const { secret, seen: given = memorySeen(), onError } = options;
  const readStatus = statusReader(options);
  const tell = (error: unknown) => callSafely(() => onError?.(error));
  const accept = async (received: Request | CallbackParts) => {
    const seen = timely(given, monotonicMs() + maxClaimMs);
    const { nonce, ...result } = await verifyWebhook(received, { secret, seen });
    try {
      await handle(readStatus ? await confirm(result, readStatus) : result);
    } catch (error) {
      await release(seen, nonce).catch((failure: unknown) => tell(failure));
      throw error;
    }
  };
  const answer = async (received: Request | CallbackParts) => {
    try {
      await accept(received);
      return handled;
    } catch (error) {
      tell(error);
      return answerTo(error);
    }
  };
  return async (method, received) => (method === 'POST' ? inTime(answer(received)) : onlyPost);
}

// The service may not wait for long, and would take a late answer for a failure.
async function inTime(answer: Promise<Answer>): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve(atWork), maxMs);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

// A store that hangs must not make the service believe that its callback is being handled.
function timely(store: SeenStore, claimBy: number): SeenStore {
  return {
    claim(nonce, expiresAt) {
      const onLate = (isFirst: boolean) => (isFirst ? store.release(nonce) : undefined);
      const claimed = Promise.resolve(store.claim(nonce, expiresAt));
      const leftMs = Math.max(minClaimMs, claimBy - monotonicMs());
      return answerWithin(claimed, leftMs, { onLate, signal: undefined });
    },
    release: (nonce) =>
      answerWithin(Promise.resolve(store.release(nonce)), maxReleaseMs, {
        onLate: () => undefined,
        signal: undefined,
      }),
  };
}

// A store may be synchronous, and throw.
async function release(seen: SeenStore, nonce: string): Promise<void> {
  await seen.release(nonce);
}

function statusReader(options: InboxOptions): ReadStatus | undefined {
  const { status, confirm: isWanted = status !== undefined } = options;
  if (!isWanted || status) {
    return isWanted ? status : undefined;
  }
  throw new ConfigurationError(
    '`confirm: true` needs `status`. Pass `(fileId) => media.generate.status({ fileId })`.',
    { code: 'INVALID_OPTION' },
  );
}
