import { callSafely, answerWithin, monotonicMs } from '../../core/async.js';
import { anything, callback, flag, type OptionKinds } from '../../core/options.js';
import type { WebhookResult } from '../../core/types.js';
import { ConfigurationError } from '../../core/errors.js';
import { fingerprint } from '../../core/values.js';
import { answerTo, atWork, handled, onlyPost, type Answer } from './answer.js';
import { confirm, type ReadStatus } from './confirm.js';
import type { WebhookSecret } from '../sign/secret.js';
import { memorySeen, seenStore, type SeenStore } from './replay-store.js';
import { readCallback, replayed, type CallbackParts } from './verify.js';

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

type Callback = Awaited<ReturnType<typeof readCallback>>;

/** Answers a callback within five seconds; never rejects. */
export type Receive = (
  method: string | undefined,
  callback: Request | CallbackParts,
) => Promise<Answer>;

/**
 * Verifies, confirms and handles callbacks. One that could not be handled is accepted again; one that
 * comes again for the same file is answered like the first, since a sender would go on after a refusal.
 */
export function receiver(
  options: InboxOptions,
  handle: (result: WebhookResult) => Promise<void>,
): Receive {
  const { secret, seen: given = memorySeen(), onError } = options;
  const readStatus = statusReader(options);
  const tell = (error: unknown) => callSafely(() => onError?.(error));
  const atHand = new Map<string, Promise<Answer>>();
  const acceptFirst = async (seen: SeenStore, own: string, callback: Callback) => {
    const { nonce, expiresAt, result } = callback;
    const claimed = [own];
    try {
      if (!(await seen.claim(nonce, expiresAt))) {
        throw replayed(result);
      }
      claimed.push(nonce);
      await handle(readStatus ? await confirm(result, readStatus) : result);
      return handled;
    } catch (error) {
      await release(seen, claimed).catch((failure: unknown) => tell(failure));
      tell(error);
      return answerTo(error);
    }
  };
  const answer = async (received: Request | CallbackParts) => {
    try {
      const seen = timely(given, monotonicMs() + maxClaimMs);
      const callback = await readCallback(received, { secret, now: Date.now() });
      const own = `${callback.nonce}/${fingerprint(callback.result.fileId)}`;
      if (!(await seen.claim(own, callback.expiresAt))) {
        return await (atHand.get(own) ?? handled);
      }
      const first = acceptFirst(seen, own, callback);
      atHand.set(own, first);
      return await first.finally(() => atHand.delete(own));
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

// A store may be synchronous, and throw.
async function release(seen: SeenStore, keys: readonly string[]): Promise<void> {
  await Promise.all(
    keys.map(async (key) => {
      await seen.release(key);
    }),
  );
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
