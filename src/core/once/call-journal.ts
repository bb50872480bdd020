import { InvalidRequestError, invalidRequest } from '../errors.js';
import { oneOf, readOptions } from '../options.js';
import { isRecord } from '../values.js';
import { journalMissingError, storeKeyOf } from './key.js';
import type { KeyScope } from './key-scope.js';
import { isAlive, isIdle } from './ledger.js';

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
export function createCallJournal(keys: KeyScope | undefined): CallJournal {
  const required = () => {
    if (keys) {
      return keys;
    }
    throw journalMissingError('`client.journal`');
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
      const storeKey = storeKeyOf(call.startsWith('queue ') ? queueScope : scope, { key, call });
      let found = await ledger.find(storeKey);
      const isKnown = found !== undefined;
      for (; found; found = await ledger.find(storeKey)) {
        if (isAlive(found)) {
          const message = `The call ${call} with the key "${key}" is still running. Wait until it has ended, then forget the key.`;
          throw new InvalidRequestError(message, { code: 'ONCE_UNDER_WAY', outcome: 'not-sent' });
        }
        await ledger.remove(found);
      }
      // Also remove the answers that were written under separate keys: see `Ledger.keepBeside()`.
      for await (const beside of ledger.entries(`${storeKey}/`)) {
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
    for await (const stored of ledger.entries(`once/${one}/`)) {
      const { key, call, state } = stored.entry;
      const isOwn = one === scope ? key !== '' : stored.entry.owner === owner;
      if (isOwn && keys.hasCall(call)) {
        const isDead = state === 'claimed' && !isAlive(stored);
        if (isDead && isIdle(stored)) {
          continue; // the key is free
        }
        yield { key, call, state: isDead ? 'unknown' : state, ageMs: stored.ageMs };
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
