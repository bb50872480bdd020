import { hasIoContexts, sleep } from '../async.js';
import { inTime, notSentInTime } from '../call/call.js';
import {
  ConfigurationError,
  InvalidRequestError,
  invalidRequest,
  isPostreelError,
  PostreelError,
} from '../errors.js';
import { nameOf } from './journal.js';
import { restoreAnswer, compactAnswer, type KeptAnswer } from './kept-answer.js';
import { claimLimitMs, holdClaim, type HeldClaim } from './claim.js';
import {
  isAlive,
  leftMsOf,
  takenOver,
  type Claimed,
  type KeyEntry,
  type StoredEntry,
  type Ledger,
} from './ledger.js';
import { oneOf, readOptions } from '../options.js';
import { kindOf, type PreparedCall, type SendHooks } from '../call/request.js';
import type { Answer, RequestOptions } from '../types.js';
import { fingerprint, isRecord } from '../values.js';

/**
 * The services have no idempotency keys, so the client keeps them. A call with `once` claims its key in the
 * journal right before its request is sent, and writes the response there. A later call with the same key
 * and content resolves to that response.
 */

/** The keys of one client. */
export interface KeyScope {
  readonly ledger: Ledger;
  /** The prefix that separates this project's keys from those of other projects in the same store. */
  readonly scope: string;
  /** The prefix of named queues, which several projects may share. */
  readonly queueScope: string;
  /** The group that owns these entries among those of a shared queue. */
  readonly owner: string | undefined;
  /** Does a call belong to this client's service? The other service may have its keys in the same scopes. */
  readonly hasCall: (call: string) => boolean;
  /** Emits a `warning`. */
  readonly warn: (message: string) => void;
}

/** The key of a call, and the content that it stands for. */
export interface OnceKey {
  readonly key: string;
  /** The call, as the journal lists it. */
  readonly call: string;
  /** The fingerprint of the content; empty if the key accepts any content. */
  readonly print: string;
  /** Makes the call again if its outcome is unknown. */
  readonly sendsUnknown: boolean;
  /**
   * Selects the part of the response that is kept. Without it, everything is kept that the request did not
   * contain. If it throws, the call rejects with that error.
   */
  readonly keep?: (data: unknown) => unknown;
}

/** Sends the call; `hooks` run around its request. */
export type Perform<T> = (hooks: SendHooks) => Promise<Answer<T>>;

const askAgainMs = 1_000;

/** Another process was faster: the entry that it wrote decides. */
class ClaimLost extends Error {}

/** Makes calls under keys, each once. */
export class OnceCalls {
  readonly #keys: KeyScope;
  /** The calls of this process that are using a key, by place. */
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(keys: KeyScope) {
    this.#keys = keys;
  }

  /** Resolves to the response of an earlier call with this key, or sends the call with `perform`. */
  async make<T>(call: PreparedCall, key: OnceKey, perform: Perform<T>): Promise<Answer<T>> {
    const place = placeOf(this.#keys.scope, key);
    let hasWarned = false;
    const onWait = (leftMs: number) => {
      if (!hasWarned) {
        hasWarned = true;
        this.#keys.warn(waitingForClaim(key, leftMs));
      }
    };
    for (;;) {
      // On Workers no request may wait for another one, so the journal alone decides.
      const other = hasIoContexts() ? undefined : this.#running.get(place);
      if (other) {
        await inTime(
          other.catch(() => undefined),
          call,
        ); // the next `#findOrMake` reads the response from the journal
        continue;
      }
      const run = this.#findOrMake(place, call, key, { perform, onWait });
      this.#running.set(place, run);
      const answer = await run.finally(() => this.#running.delete(place));
      if (answer) {
        return answer;
      }
    }
  }

  /** Resolves to `undefined` if another process holds the key: call it again. */
  async #findOrMake<T>(
    place: string,
    call: PreparedCall,
    key: OnceKey,
    { perform, onWait }: { perform: Perform<T>; onWait: (leftMs: number) => void },
  ): Promise<Answer<T> | undefined> {
    const { ledger } = this.#keys;
    const found = await inTime(ledger.find(place), call);
    if (found && found.entry.print !== key.print) {
      throw onceConflict(key);
    }
    if (found?.entry.state === 'answered') {
      const kept = found.entry.answer as KeptAnswer; // as: written by `OnceClaim`
      const data = restoreAnswer(kept, call.body) as T; // as: the same call has the same type of response
      call.state.outcome = undefined;
      return { data, response: undefined, requestId: kept.requestId, replayed: true };
    }
    if (found && isAlive(found)) {
      await waitFor(found, call, onWait);
      return undefined;
    }
    if (found && !key.sendsUnknown) {
      call.state.outcome = 'unknown';
      throw unknownOutcome(key);
    }
    const over = found && takenOver(found);
    const claim = new OnceClaim({ ledger, place, over, call, key });
    try {
      const hooks = {
        beforeSending: () => claim.take(),
        onLate: (data: unknown) => claim.late(data),
      };
      const answer = await perform(hooks);
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
}

async function waitFor(
  claimed: StoredEntry,
  call: PreparedCall,
  onWait: (leftMs: number) => void,
): Promise<void> {
  const { clock, deadlineAt, signal } = call;
  const claimMs = leftMsOf(claimed);
  const leftMs = deadlineAt - clock.now();
  if (leftMs <= 0) {
    throw notSentInTime(call);
  }
  onWait(Math.min(claimMs, leftMs));
  await sleep(Math.max(1, Math.min(askAgainMs, claimMs, leftMs)), signal, clock);
}

interface ClaimParts {
  readonly ledger: Ledger;
  readonly place: string;
  /** The entry that is taken over: the outcome of its call is unknown. */
  readonly over: StoredEntry | undefined;
  readonly call: PreparedCall;
  readonly key: OnceKey;
}

/** The claim of one call, from before its request is sent until its outcome is written. */
class OnceClaim {
  readonly #parts: ClaimParts;
  /**
   * The entry in the store, as far as this call wrote it. While the claim is renewed, `#held` has the entry.
   */
  #own: StoredEntry | undefined;
  #held: HeldClaim | undefined;

  constructor(parts: ClaimParts) {
    this.#parts = parts;
  }

  /** Claims the key for an attempt. Each attempt starts the claim's lifetime again. */
  async take(): Promise<void> {
    const { ledger, place, over, call, key } = this.#parts;
    if (this.#held?.hasExpired) {
      throw claimExpired(key);
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
    const claiming = holdClaim(ledger, place, claim, this.#own ?? over);
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
      this.#parts.ledger.keepBeside(this.#parts.place, { ...entry, id }); // two attempts got a response
    } else {
      await this.#write(entry);
    }
  }

  /** Writes a response that arrived after the call was given up. */
  late(data: unknown): void {
    const answer = { data, response: undefined, requestId: undefined };
    this.answered(answer).catch(() => undefined); // a late response that cannot be kept is dropped: the call stays unknown
  }

  /**
   * Records that the call failed. The key is free only if the call certainly did nothing and no earlier
   * outcome is unknown.
   */
  async failed(): Promise<void> {
    const { over, call } = this.#parts;
    const { outcome, mayHaveHappened } = call.state;
    const didNothing = outcome === 'not-sent' || outcome === 'rejected';
    const isFree = didNothing && !mayHaveHappened && !over;
    this.#release();
    if (this.#own?.entry.state === 'answered') {
      return; // an earlier attempt got a late response
    }
    const id = this.#own?.entry.id ?? '';
    await this.#write(isFree ? undefined : { state: 'unknown', ...this.#facts(id) });
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
    this.#own = change?.known;
    if (change) {
      await inTime(change.tried, call).catch(() => undefined);
    }
  }

  #facts(id: string) {
    const { key, call, print } = this.#parts.key;
    return { id, key, call, print };
  }
}

/** The place of a key in the store. */
export function placeOf(scope: string, { key, call }: Pick<OnceKey, 'key' | 'call'>): string {
  return `once/${scope}/${nameOf([call, key])}`;
}

/**
 * The `once` of a call with the fingerprint of its content; `undefined` if the call has none. Rejects a key
 * that is undefined, because it could not prevent a duplicate, and a key of a call that takes none.
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
    key: keyIn(given),
    call: `${method} ${route.path}`,
    print: fingerprint(canonical([path, query, body])),
    sendsUnknown: options.retry?.unknownOutcome ?? false,
  };
}

/** Reads `once` from options: it must be a text that is not empty. */
export function keyIn({ once }: { readonly once?: unknown }): string {
  if (typeof once === 'string' && once !== '') {
    return once;
  }
  const what = once === '' ? 'an empty text' : kindOf(once);
  const message = `must be a text that is not empty; got ${what}. A key that was never set would not keep the call from being made twice`;
  throw invalidRequest([{ field: 'once', message }]);
}

/** The error if the client has no journal. */
export function journalMissing(name: string): ConfigurationError {
  return new ConfigurationError(
    `${name} needs a journal: create the client with one, \`new MessagingClient({ journal })\` or \`new MediaClient({ journal })\`, where \`journal\` is for example \`fileJournal('journal.jsonl')\` of postreel/node.`,
    { code: 'JOURNAL_MISSING' },
  );
}

/** Serializes content: equal contents give the same text, whatever the order of their fields. */
export function canonical(content: unknown): string {
  return JSON.stringify([content], (_, field: unknown) =>
    isRecord(field)
      ? Object.fromEntries(Object.entries(field).sort(([one], [other]) => (one < other ? -1 : 1)))
      : field,
  );
}

/** The error if the key was used with other content. */
export function onceConflict({ key, call }: Pick<OnceKey, 'key' | 'call'>): InvalidRequestError {
  return new InvalidRequestError(
    `The key "${key}" of ${call} was used with other content before. A key stands for one content: give this call another one.`,
    { code: 'ONCE_CONFLICT', outcome: 'not-sent' },
  );
}

/** The error if an earlier call with the key may have taken effect. */
export function unknownOutcome({ key, call }: Pick<OnceKey, 'key' | 'call'>): PostreelError {
  return new PostreelError(
    `The call ${call} with the key "${key}" may have happened: its response was lost, or its process ended. Check first; then make it again with \`retry: { unknownOutcome: true }\`, or forget the key with \`client.journal.forget()\`.`,
    { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' },
  );
}

/** The error if a claim could not be renewed: other processes may have seen it expire. */
function claimExpired({ key, call }: OnceKey): PostreelError {
  return new PostreelError(
    `The claim of the key "${key}" of ${call} could not be renewed in time, because the journal did not answer or the process was suspended. Other processes may take the outcome for unknown, so no further attempt is made. Make the call again once the journal answers.`,
    { code: 'JOURNAL_UNAVAILABLE', outcome: 'not-sent' },
  );
}

/** The warning of a call that waits for another process's call with the same key. */
export function waitingForClaim(
  { key, call }: Pick<OnceKey, 'key' | 'call'>,
  leftMs: number,
): string {
  const until = new Date(Date.now() + leftMs).toISOString();
  return `Another process has claimed the key "${key}" of ${call} and has not written a response yet. This call waits for it until ${until}, and longer only if that process is alive and renews its claim. If that process was killed, the outcome is unknown from then on.`;
}

/** A key of the journal, and the state of its call. */
export interface JournalEntry {
  readonly key: string;
  /** The call, e.g. `POST /v1/send`; `sendEach` for an address of a mailing. */
  readonly call: string;
  /** `claimed`: under way; `answered`; `unknown`: nobody knows the outcome. */
  readonly state: JournalState;
  /** How long ago the entry was written, in milliseconds. */
  readonly ageMs: number;
}

/** Whether a call is under way, was answered, or has an unknown outcome. */
export type JournalState = 'claimed' | 'answered' | 'unknown';

/** The keys of a client's calls with `once`. */
export interface CallJournal {
  /** Lists the keys; filter by state with `list({ state: 'unknown' })`. */
  list(query?: { readonly state?: JournalState | undefined }): Promise<JournalEntry[]>;
  /**
   * Forgets a key, so that the next call with it is sent. Resolves to whether the key was known.
   * @throws an `InvalidRequestError` with the code `ONCE_UNDER_WAY` while its call is under way
   */
  forget(key: string, where: { readonly call: string }): Promise<boolean>;
}

/** Reads and changes the journal of a client; each method throws if the client has none. */
export function callJournal(keys: KeyScope | undefined): CallJournal {
  const required = () => {
    if (keys) {
      return keys;
    }
    throw journalMissing('`client.journal`');
  };
  return {
    async list(query = {}) {
      const { state } = readOptions(query, { state: oneOf(...states) }, listOwner);
      const entries: JournalEntry[] = [];
      for await (const entry of entriesOf(required())) {
        if (state === undefined || state === entry.state) {
          entries.push(entry);
        }
      }
      return entries;
    },
    async forget(key, where) {
      const { ledger, scope, queueScope } = required();
      const call = requireForgettable(key, where);
      const place = placeOf(call.startsWith('queue ') ? queueScope : scope, { key, call });
      let found = await ledger.find(place);
      const isKnown = found !== undefined;
      for (; found; found = await ledger.find(place)) {
        if (isAlive(found)) {
          const message = `The call ${call} with the key "${key}" is under way. Wait for its end first.`;
          throw new InvalidRequestError(message, { code: 'ONCE_UNDER_WAY', outcome: 'not-sent' });
        }
        await ledger.remove(found);
      }
      for await (const beside of ledger.entries(`${place}/`)) {
        await ledger.remove(beside);
      }
      return isKnown;
    },
  };
}

const states = ['claimed', 'answered', 'unknown'] as const;
const listOwner = { name: '`client.journal.list()`', example: "{ state: 'unknown' }" };

async function* entriesOf(keys: KeyScope): AsyncGenerator<JournalEntry, void, undefined> {
  const { ledger, scope, queueScope, owner } = keys;
  for (const one of [scope, queueScope]) {
    for await (const known of ledger.entries(`once/${one}/`)) {
      const { key, call, state } = known.entry;
      const isOwn = one === scope ? key !== '' : known.entry.owner === owner;
      if (isOwn && keys.hasCall(call)) {
        const isDead = state === 'claimed' && !isAlive(known);
        yield { key, call, state: isDead ? 'unknown' : state, ageMs: known.ageMs };
      }
    }
  }
}

// In plain JavaScript, `forget(key)` without the call would silently forget nothing.
function requireForgettable(key: unknown, where: unknown): string {
  const call = isRecord(where) ? where['call'] : undefined;
  if (typeof key !== 'string' || key === '' || typeof call !== 'string' || call === '') {
    const message = 'takes a key and its call as `list()` has them: `forget(key, { call })`';
    throw invalidRequest([{ field: '', message: `\`client.journal.forget()\` ${message}` }]);
  }
  return call;
}
