import { sleep } from './async.js';
import { inTime, notSentInTime } from './call.js';
import { ConfigurationError, InvalidRequestError, PostreelError } from './errors.js';
import { nameOf } from './journal.js';
import {
  isAlive,
  type Answered,
  type Claimed,
  type Entry,
  type Known,
  type Ledger,
} from './ledger.js';
import type { PreparedCall, SendHooks } from './request.js';
import type { Route } from './route.js';
import type { Answer, RequestOptions } from './types.js';
import { fingerprint, isRecord } from './values.js';

/**
 * The idempotency key that the services lack, kept on the client's side: a call with `once` is claimed in
 * the journal right before it leaves, and its answer is written there; whoever makes the same call again
 * gets that answer.
 */

/** The keys of one client. */
export interface KeyScope {
  readonly ledger: Ledger;
  /** What tells its project from others in the same store. */
  readonly scope: string;
}

/** A key of a call, with what it stands for. */
export interface OnceKey {
  readonly key: string;
  /** The call, as the journal lists it. */
  readonly call: string;
  /** Which content it has; empty where any content will do. */
  readonly print: string;
  /** Makes the call again where nobody knows whether it happened. */
  readonly sendsUnknown: boolean;
  /** What of an answer is kept; without it all that the request did not have. */
  readonly keep?: (data: unknown) => unknown;
}

/** What a call needs of its sender. */
export type Perform<T> = (hooks: SendHooks) => Promise<Answer<T>>;

// A request that leaves at the end of its time is answered, or given up, by then.
const graceMs = 10_000;
const askAgainMs = 1_000;

/** Another process was faster: what it wrote decides. */
class Taken extends Error {}

/** Makes calls under keys, each once. */
export class OnceCalls {
  readonly #keys: KeyScope;
  /** Keys that are being used in this process. */
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(keys: KeyScope) {
    this.#keys = keys;
  }

  /** The answer to a call that was made under the key, or the one of `perform`. */
  async make<T>(call: PreparedCall, key: OnceKey, perform: Perform<T>): Promise<Answer<T>> {
    const place = placeOf(this.#keys.scope, key);
    for (;;) {
      const other = this.#running.get(place);
      if (other) {
        await inTime(
          other.catch(() => undefined),
          call,
        ); // then the journal knows
        continue;
      }
      const run = this.#findOrMake(place, call, key, perform);
      this.#running.set(place, run);
      const answer = await run.finally(() => this.#running.delete(place));
      if (answer) {
        return answer;
      }
    }
  }

  async #findOrMake<T>(
    place: string,
    call: PreparedCall,
    key: OnceKey,
    perform: Perform<T>,
  ): Promise<Answer<T> | undefined> {
    const { ledger } = this.#keys;
    const found = await inTime(ledger.find(place), call);
    if (found && found.entry.print !== key.print) {
      throw onceConflict(key);
    }
    if (found?.entry.state === 'answered') {
      call.state.outcome = undefined;
      return replay(found.entry, call.body) as Answer<T>; // what the same call was answered
    }
    if (found && isAlive(found)) {
      await this.#waitFor(call);
      return undefined;
    }
    if (found && !key.sendsUnknown) {
      call.state.outcome = 'unknown';
      throw unknownOutcome(key);
    }
    return this.#claimAndMake({ place, over: found, call, key }, perform);
  }

  async #waitFor({ clock, deadlineAt, signal, method, path }: PreparedCall): Promise<void> {
    if (clock.now() + askAgainMs > deadlineAt) {
      throw notSentInTime({ method, path });
    }
    await sleep(askAgainMs, signal, clock);
  }

  async #claimAndMake<T>(
    { place, over, call, key }: Claiming,
    perform: Perform<T>,
  ): Promise<Answer<T> | undefined> {
    const { ledger } = this.#keys;
    const written = { id: crypto.randomUUID(), key: key.key, call: key.call, print: key.print };
    let own: Known | undefined;
    const settle = async (entry: Entry | undefined) => {
      const change = own && ledger.change(own, entry);
      own = change?.known;
      await change?.tried;
    };
    const beforeSending = async () => {
      const claim: Claimed = { state: 'claimed', ...written, limitMs: call.timeoutMs + graceMs };
      // Each further attempt begins its time anew.
      const mine = await ledger.claim(place, claim, own ?? over);
      if (!mine) {
        throw new Taken();
      }
      own = mine;
    };
    const onLate = (data: unknown) =>
      void settle({ ...written, state: 'answered', answer: keptOf(key, call, data) });
    try {
      const answer = await perform({ beforeSending, onLate });
      const kept = keptOf(key, call, answer.data, answer.requestId);
      await settle({ ...written, state: 'answered', answer: kept });
      return answer;
    } catch (failure) {
      if (failure instanceof Taken) {
        return undefined;
      }
      // What was unknown before stays so, though this call did nothing.
      const isUnknown = call.state.outcome === 'unknown' || over !== undefined;
      await settle(isUnknown ? { ...written, state: 'unknown' } : undefined);
      throw failure;
    }
  }
}

interface Claiming {
  readonly place: string;
  readonly over: Known | undefined;
  readonly call: PreparedCall;
  readonly key: OnceKey;
}

/** Where a key stands in the store. */
export function placeOf(scope: string, { key, call }: Pick<OnceKey, 'key' | 'call'>): string {
  return `once/${scope}/${nameOf([call, key])}`;
}

/**
 * The key of a call with its content, as it is sent; `undefined` without one. A key that was never set is
 * refused, since it must not send twice, and so is one of a call that cannot have any.
 */
export function requireOnce(given: RequestOptions, call: PreparedCall): OnceKey | undefined {
  if (!('once' in given)) {
    return undefined;
  }
  const { route, method, path, query, body, options } = call;
  const once = keyIn(given);
  if (!route.takesOnce) {
    const why = route.repeatable ? 'a repeat of it does no harm' : 'it is no call for a journal';
    throw refusal(`${method} ${route.path} takes no \`once\`: ${why}.`);
  }
  return {
    key: once,
    call: `${method} ${route.path}`,
    print: fingerprint(canonical([path, query, body])),
    sendsUnknown: options.retry?.unknownOutcome ?? false,
  };
}

/** The `once` among options; a text that is not empty. */
export function keyIn({ once }: { readonly once?: unknown }): string {
  if (typeof once === 'string' && once !== '') {
    return once;
  }
  const what = once === '' ? 'an empty text' : String(once);
  throw refusal(`\`once\` must be a text that is not empty; got ${what}.`);
}

/** The error of a client without a journal. */
export function journalMissing(name: string): ConfigurationError {
  return new ConfigurationError(
    `${name} needs a journal: create the client with \`{ journal }\`, such as \`fileJournal(path)\` of postreel/node.`,
    { code: 'JOURNAL_MISSING' },
  );
}

/** The same text for equal contents, whatever the order of their fields. */
export function canonical(content: unknown): string {
  return JSON.stringify([content], (_, field: unknown) =>
    isRecord(field)
      ? Object.fromEntries(Object.entries(field).sort(([one], [other]) => (one < other ? -1 : 1)))
      : field,
  );
}

/** What is kept of an answer. What the request had too is not: bodies of mails are long and private. */
interface Kept {
  readonly data: unknown;
  /** The fields that were answered as they were sent. */
  readonly same: readonly string[];
  readonly requestId: string | undefined;
}

function keptOf(
  { keep }: OnceKey,
  { body }: PreparedCall,
  data: unknown,
  requestId?: string,
): Kept {
  if (keep) {
    return { data: keep(data), same: [], requestId };
  }
  if (!isRecord(data) || !isRecord(body)) {
    return { data, same: [], requestId };
  }
  const isSame = (name: string) => JSON.stringify(body[name]) === JSON.stringify(data[name]);
  const same = Object.keys(data).filter((name) => name in body && isSame(name));
  const others = Object.entries(data).filter(([name]) => !same.includes(name));
  return { data: Object.fromEntries(others), same, requestId };
}

function replay({ answer }: Answered, body: unknown): Answer<unknown> {
  const { data, same, requestId } = answer as Kept; // as written
  const sent = isRecord(body) ? same.map((name) => [name, body[name]] as const) : [];
  const whole = isRecord(data) ? { ...data, ...Object.fromEntries(sent) } : data;
  return { data: whole, response: undefined, requestId, replayed: true };
}

/** The error of a key that stands for other content. */
export function onceConflict({ key, call }: Pick<OnceKey, 'key' | 'call'>): InvalidRequestError {
  return new InvalidRequestError(
    `The key "${key}" of ${call} was used with other content. A key stands for one content: use another one.`,
    { code: 'ONCE_CONFLICT' },
  );
}

/** The error of a key whose call may have happened. */
export function unknownOutcome({ key, call }: Pick<OnceKey, 'key' | 'call'>): PostreelError {
  return new PostreelError(
    `The call ${call} with the key "${key}" may have happened: its response was lost, or its process ended. Check before you make it again, with \`retry: { unknownOutcome: true }\` or after \`client.journal.forget()\`.`,
    { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' },
  );
}

function refusal(message: string): InvalidRequestError {
  return new InvalidRequestError(message, { code: 'INVALID_REQUEST' });
}

/** A key of the journal, and what became of its call. */
export interface JournalEntry {
  readonly key: string;
  /** The call, e.g. `POST /v1/send`. */
  readonly call: string;
  /** Under way, answered, or nobody knows. */
  readonly state: 'claimed' | 'answered' | 'unknown';
  /** How long ago that was written, in milliseconds. */
  readonly ageMs: number;
}

/** The keys of a client's calls with `once`. */
export interface CallJournal {
  /** Lists them, those of one state if you like: `list({ state: 'unknown' })`. */
  list(query?: { readonly state?: JournalEntry['state'] | undefined }): AsyncIterable<JournalEntry>;
  /**
   * Forgets a key: the next call with it is sent. One whose call is under way is refused.
   * @throws an `InvalidRequestError` with the code `ONCE_UNDER_WAY`
   */
  forget(key: string, where: { readonly call: string }): Promise<void>;
}

/** Reads and changes the journal of a client; each call refuses when there is none. */
export function callJournal(keys: KeyScope | undefined): CallJournal {
  const required = () => {
    if (keys) {
      return keys;
    }
    throw journalMissing('`client.journal`');
  };
  return {
    async *list({ state } = {}) {
      const { ledger, scope } = required();
      for await (const known of ledger.entries(`once/${scope}/`)) {
        const { key, call } = known.entry;
        const is =
          known.entry.state === 'claimed' && !isAlive(known) ? 'unknown' : known.entry.state;
        if (state === undefined || state === is) {
          yield { key, call, state: is, ageMs: known.ageMs };
        }
      }
    },
    async forget(key, { call }) {
      const { ledger, scope } = required();
      const found = await ledger.find(placeOf(scope, { key, call }));
      if (found && isAlive(found)) {
        const message = `The call ${call} with the key "${key}" is under way.`;
        throw new InvalidRequestError(message, { code: 'ONCE_UNDER_WAY' });
      }
      if (found) {
        ledger.change(found, undefined);
        await ledger.flush();
      }
    },
  };
}
