import { sleep } from '../async.js';
import { hasIoContexts } from '../runtime.js';
import { inTime, notSentInTimeError, type CallState, type Deadline } from '../call/call.js';
import { TimeoutError } from '../errors.js';
import {
  isAlive,
  isAnswered,
  isIdle,
  leftMsOf,
  restorableOf,
  type Answered,
  type StoredEntry,
} from './ledger.js';

/** A call under an idempotency key. */
export interface KeyedCall<T> {
  /** The full key in the store. */
  readonly storeKey: string;
  /** Is the call sent again if it is unknown whether an earlier one took effect? */
  readonly sendsUnknown: boolean;
  readonly state: CallState;
  readonly deadline: Deadline;
  /** Reads the entry of the key. Rejects with `ONCE_CONFLICT` if the entry stands for other content. */
  find(): Promise<StoredEntry | undefined>;
  /** Builds the result from an answered entry; `undefined` if the call is to be sent again over this entry. */
  replay(answered: StoredEntry<Answered>): T | undefined | Promise<T | undefined>;
  /**
   * Claims the key and sends the call. The claim replaces the entry `replaced`, if there is one. Resolves to `undefined`
   * if another process claimed the key first; in that case nothing was sent.
   */
  send(replaced: StoredEntry | undefined): Promise<T | undefined>;
  /** The error if an earlier call with the key may have taken effect. */
  unknownError(found: StoredEntry): Error;
  /** Called before each wait for the call of another process, with the time that the wait may take. */
  onWait(claimed: StoredEntry, maxWaitMs: number): void;
}

// The pause between two looks at the claim of another process.
const askAgainMs = 1_000;

/**
 * Makes each call with an idempotency key once. The entry of the key decides:
 *
 *     a call of this process is using the key   wait for its end, then read the entry
 *
 *     entry of the key        the call
 *     absent                  claims the key and is sent
 *     of other content        rejects with `ONCE_CONFLICT`: `find()` does this
 *     answered                gets the response of the entry; or is sent over the entry: `replay()` decides
 *     claimed, alive          waits, then reads the entry again
 *     claimed, expired, idle  claims the key and is sent
 *     claimed, expired        rejects with `OUTCOME_UNKNOWN`; with `sendsUnknown` it is sent over the entry
 *     unknown                 as for an expired claim
 *
 *     while it claims the key, another process changes the entry: read the entry again
 */
export class ClaimLoop {
  /** The calls of this process that are using a key, by the full key in the store. */
  readonly #running = new Map<string, Promise<unknown>>();

  /** Resolves to the result of an earlier call with the key, or sends the call. */
  async run<T>(call: KeyedCall<T>): Promise<T> {
    const { storeKey, deadline } = call;
    for (;;) {
      // On Workers no request may wait for another one, so the journal alone decides.
      const other = hasIoContexts() ? undefined : this.#running.get(storeKey);
      if (other) {
        const ended = other.catch(() => undefined);
        await whileClaimed(call, () => inTime(ended, deadline));
        continue;
      }
      const run = this.#findOrSend(call);
      this.#running.set(storeKey, run);
      const result = await run.finally(() => this.#running.delete(storeKey));
      if (result !== undefined) {
        return result;
      }
    }
  }

  /** Resolves to `undefined` if another process holds the key: read its entry again. */
  async #findOrSend<T>(call: KeyedCall<T>): Promise<T | undefined> {
    const found = await inTime(call.find(), call.deadline);
    if (!found) {
      return call.send(undefined);
    }
    if (isAnswered(found)) {
      const result = await call.replay(found);
      if (result === undefined) {
        return call.send(found);
      }
      call.state.outcome = undefined;
      return result;
    }
    if (isAlive(found)) {
      await whileClaimed(call, () => waitFor(found, call));
      return undefined;
    }
    if (isIdle(found)) {
      return call.send(found);
    }
    if (call.sendsUnknown) {
      return call.send(restorableOf(found));
    }
    call.state.outcome = 'unknown';
    throw call.unknownError(found);
  }
}

/** Waits for another call with the key. If the caller gives up, that call may still take effect. */
async function whileClaimed<T>(call: KeyedCall<T>, wait: () => Promise<unknown>): Promise<void> {
  try {
    await wait();
  } catch (failure) {
    call.state.outcome = 'unknown';
    throw failure instanceof TimeoutError ? stillClaimedError(call) : failure;
  }
}

function stillClaimedError<T>({ deadline: { method, path } }: KeyedCall<T>): TimeoutError {
  return new TimeoutError(
    `The \`deadline\` of ${method} ${path} passed while another call with the same key was in flight. That call may take effect, so make this call again with the same key.`,
    { method, path, code: 'DEADLINE_EXCEEDED', outcome: 'unknown' },
  );
}

async function waitFor<T>(claimed: StoredEntry, call: KeyedCall<T>): Promise<void> {
  const { deadlineAt, signal, clock } = call.deadline;
  const leftMs = deadlineAt - clock.now();
  if (leftMs <= 0) {
    throw notSentInTimeError(call.deadline);
  }
  const maxWaitMs = Math.min(leftMsOf(claimed), leftMs);
  call.onWait(claimed, maxWaitMs);
  await sleep(Math.max(1, Math.min(askAgainMs, maxWaitMs)), signal, clock);
}
