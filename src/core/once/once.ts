import { inTime, type CallState } from '../call/call.js';
import type { PreparedCall, SendHooks } from '../call/request.js';
import { kindOf } from '../values.js';
import { invalidRequest, isPostreelError, PostreelError } from '../errors.js';
import type { Answer, RequestOptions } from '../types.js';
import { fingerprint } from '../fingerprint.js';
import { claimLimitMs, holdClaim, type HeldClaim } from './claim.js';
import type { KeyedCall } from './claim-loop.js';
import { restoreAnswer, compactAnswer, type KeptAnswer } from './kept-answer.js';
import {
  toCanonicalJson,
  storeKeyOf,
  requireSameContent,
  claimWaitWarning,
  type OnceKey,
} from './key.js';
import type { KeyScope } from './key-scope.js';
import {
  isIdle,
  type Answered,
  type Claimed,
  type KeyEntry,
  type Ledger,
  type StoredEntry,
} from './ledger.js';

/** Sends the call; `hooks` run around its request. */
export type Perform<T> = (hooks: SendHooks) => Promise<Answer<T>>;

/** Another process was faster: the entry that it wrote decides. */
class ClaimLost extends Error {}

/**
 * Makes a call under a key, once. The services have no idempotency keys, so the client keeps them: the call
 * claims its key in the journal right before its request is sent, and writes the response there. A later
 * call with the same key and content resolves to that response. `ClaimLoop` decides.
 */
export function makeOnce<T>(
  keys: KeyScope,
  call: PreparedCall,
  key: OnceKey,
  perform: Perform<T>,
): Promise<Answer<T>> {
  return keys.loop.run(new OnceCall(keys, call, key, perform));
}

/** One call under its key. */
class OnceCall<T> implements KeyedCall<Answer<T>> {
  readonly storeKey: string;
  readonly state: CallState;
  readonly deadline: PreparedCall;
  readonly sendsUnknown: boolean;
  readonly #key: OnceKey;
  readonly #keys: KeyScope;
  readonly #perform: Perform<T>;
  #hasWarned = false;

  constructor(keys: KeyScope, call: PreparedCall, key: OnceKey, perform: Perform<T>) {
    this.storeKey = storeKeyOf(keys.scope, key);
    this.state = call.state;
    this.deadline = call;
    this.sendsUnknown = key.sendsUnknown;
    this.#key = key;
    this.#keys = keys;
    this.#perform = perform;
  }

  async find(): Promise<StoredEntry | undefined> {
    const found = await this.#keys.ledger.find(this.storeKey);
    requireSameContent(found, this.#key);
    return found;
  }

  replay({ entry }: StoredEntry<Answered>): Answer<T> {
    const kept = entry.answer as KeptAnswer; // as: written by `OnceClaim`
    const data = restoreAnswer(kept, this.deadline.body) as T; // as: the same call has the same type of response
    return { data, response: undefined, requestId: kept.requestId, replayed: true };
  }

  async send(replaced: StoredEntry | undefined): Promise<Answer<T> | undefined> {
    const { storeKey, deadline: call } = this;
    const { ledger } = this.#keys;
    const claim = new OnceClaim({ ledger, storeKey, replaced, call, key: this.#key });
    try {
      const answer = await this.#perform({
        beforeSending: () => claim.take(),
        beforePause: () => claim.pause(),
        onLate: (data: unknown) => claim.late(data),
      });
      await claim.answered(answer);
      return answer;
    } catch (failure) {
      if (failure instanceof ClaimLost) {
        return undefined;
      }
      await claim.failed();
      throw failure;
    }
  }

  unknownError(): PostreelError {
    return unknownOutcomeError(this.#key);
  }

  onWait(_: StoredEntry, maxWaitMs: number): void {
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      this.#keys.warn(claimWaitWarning(this.#key, maxWaitMs));
    }
  }
}

interface ClaimParts {
  readonly ledger: Ledger;
  readonly storeKey: string;
  /** The entry that the claim replaces: the outcome of its call is unknown. */
  readonly replaced: StoredEntry | undefined;
  readonly call: PreparedCall;
  readonly key: OnceKey;
}

/** The claim of one call, from before its request is sent until its outcome is written. */
class OnceClaim {
  readonly #parts: ClaimParts;
  /**
   * The entry that this call wrote last; `undefined` if it wrote none, or removed it. While a claim is held, its
   * entry is in `#held` instead, and this field is out of date.
   */
  #own: StoredEntry | undefined;
  #held: HeldClaim | undefined;

  constructor(parts: ClaimParts) {
    this.#parts = parts;
  }

  /** Claims the key for an attempt. Each attempt starts the claim's lifetime again. */
  async take(): Promise<void> {
    const { ledger, storeKey, replaced, call, key } = this.#parts;
    if (this.#held?.hasExpired) {
      throw claimExpiredError(key);
    }
    this.#release();
    if (this.#own?.entry.state === 'answered') {
      throw new ClaimLost(); // the response to an earlier attempt arrived late
    }
    const claim: Claimed = {
      state: 'claimed',
      ...this.#facts(crypto.randomUUID()),
      limitMs: claimLimitMs(call.timeoutMs),
    };
    const claiming = holdClaim(ledger, storeKey, claim, this.#own ?? replaced);
    let mine: HeldClaim | undefined;
    try {
      mine = await inTime(claiming, call);
    } catch (failure) {
      // The caller no longer waits for the claim: if it succeeds later, it is released.
      claiming.then(
        (late) => {
          this.#held = late;
          void this.failed();
        },
        () => undefined,
      );
      throw failure;
    }
    if (!mine) {
      throw new ClaimLost();
    }
    this.#held = mine;
  }

  /** Notes, before the pause between two attempts, that no attempt so far can have taken effect. */
  async pause(): Promise<void> {
    if (this.#isFree() && this.#held) {
      await inTime(this.#held.markIdle(), this.#parts.call).catch(() => undefined);
    }
  }

  async answered({ data, requestId }: Answer<unknown>): Promise<void> {
    const { key, call } = this.#parts;
    let answer: KeptAnswer;
    try {
      answer = key.keep
        ? compactAnswer(key.keep(data), requestId, undefined)
        : compactAnswer(data, requestId, call.body);
    } catch (failure) {
      call.state.outcome = isPostreelError(failure) ? failure.outcome : 'unknown';
      throw failure;
    }
    this.#release();
    const entry = { state: 'answered', ...this.#facts(this.#own?.entry.id ?? ''), answer } as const;
    if (this.#own?.entry.state === 'answered') {
      const id = crypto.randomUUID();
      this.#parts.ledger.keepBeside(this.#parts.storeKey, { ...entry, id }); // two attempts got a response
    } else {
      await this.#write(entry);
    }
  }

  /** Writes a response that arrived after the call was given up. */
  late(data: unknown): void {
    const answer = { data, response: undefined, requestId: undefined };
    this.answered(answer).catch(() => undefined); // a late response that cannot be kept is dropped: the call stays unknown
  }

  /** Records that the call failed. */
  async failed(): Promise<void> {
    this.#release();
    if (this.#own?.entry.state === 'answered') {
      return; // an earlier attempt got a late response
    }
    const id = this.#own?.entry.id ?? '';
    await this.#write(this.#isFree() ? undefined : { state: 'unknown', ...this.#facts(id) });
  }

  /** Whether the call has certainly done nothing so far, and no earlier outcome under the key is unknown. */
  #isFree(): boolean {
    const { replaced, call } = this.#parts;
    const { outcome, mayHaveHappened } = call.state;
    const didNothing = outcome === 'not-sent' || outcome === 'rejected';
    return didNothing && !mayHaveHappened && (!replaced || isIdle(replaced));
  }

  /** Stops renewing the claim. */
  #release(): void {
    this.#own = this.#held?.release() ?? this.#own;
    this.#held = undefined;
  }

  // The caller already has its response or its error, so it does not wait for the store past its deadline.
  async #write(entry: KeyEntry | undefined): Promise<void> {
    const { ledger, call } = this.#parts;
    const change = this.#own && ledger.change(this.#own, entry);
    this.#own = change?.stored;
    if (change) {
      await inTime(change.tried, call).catch(() => undefined);
    }
  }

  #facts(id: string) {
    const { key, call, contentHash: print } = this.#parts.key;
    return { id, key, call, print };
  }
}

/**
 * The `once` of a call with the fingerprint of its content; `undefined` if the call has none. Rejects a key
 * that is undefined, because it could not prevent a duplicate, and a key for a call that does not take keys.
 */
export function requireOnce(given: RequestOptions, call: PreparedCall): OnceKey | undefined {
  if (!('once' in given)) {
    return undefined;
  }
  const { route, method, path, query, body, options } = call;
  if (!route.takesOnce) {
    const what = route.isUntyped ? '`client.request()`' : `${method} ${route.path}`;
    const why = route.repeatable && !route.isUntyped ? ': it does no harm to make it again' : '';
    const message = `cannot be used with ${what}${why}. Leave it out`;
    throw invalidRequest([{ field: 'once', message }], { method, path });
  }
  return {
    key: readOnceKey(given),
    call: `${method} ${route.path}`,
    contentHash: fingerprint(toCanonicalJson([path, query, body])),
    sendsUnknown: options.retry?.unknownOutcome ?? false,
  };
}

/** Reads `once` from options: it must be a text that is not empty. */
export function readOnceKey({ once }: { readonly once?: unknown }): string {
  if (typeof once === 'string' && once !== '') {
    return once;
  }
  const isUnset = once === undefined || once === null || once === '';
  const what = once === '' ? 'an empty text' : kindOf(once);
  const hint = isUnset
    ? '. An unset key cannot prevent a duplicate'
    : ': write it as a text, such as `String(id)`';
  const message = `must be a text that is not empty; got ${what}${hint}`;
  throw invalidRequest([{ field: 'once', message }]);
}

/** The error if an earlier call with the key may have taken effect. */
function unknownOutcomeError({ key, call }: OnceKey): PostreelError {
  const option = call === 'sendEach' ? "unknown: 'send'" : 'retry: { unknownOutcome: true }';
  return new PostreelError(
    `The call ${call} with the key "${key}" may have happened: its response was lost, or its process ended. Check first; then make it again with \`${option}\`, or forget the key with \`client.journal.forget()\`.`,
    { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' },
  );
}

/** The error if a claim could not be renewed: other processes may have seen it expire. */
function claimExpiredError({ key, call }: OnceKey): PostreelError {
  return new PostreelError(
    `The claim of the key "${key}" of ${call} could not be renewed in time, because the journal did not answer or the process was suspended. Other processes may treat the outcome as unknown, so no further attempt is made. Make the call again once the journal answers.`,
    { code: 'JOURNAL_UNAVAILABLE', outcome: 'not-sent' },
  );
}
