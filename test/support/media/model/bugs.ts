import { MediaClient } from 'postreel';
import { ClaimLoop } from '../../../../src/core/once/claim-loop.js';
import { JobLedger } from '../../../../src/media/jobs/ledger.js';
import { Slots } from '../../../../src/media/submit/slots.js';
import { never } from './store.js';
import type { Bug } from './world.js';

/** Faults that the model must find. Each replaces one method, or wraps a boundary. */
export const bugs: Readonly<Record<string, Bug>> = {
  'bytes leave before the claim': {
    wrap: (store, time) => ({
      ...store,
      swap: (key, from, to) => {
        if (stateOf(to) !== 'claimed') {
          return store.swap(key, from, to);
        }
        time.after(500, () => void store.swap(key, from, to).catch(() => undefined));
        return Promise.resolve(to);
      },
    }),
  },
  "a refusal frees another's claim": {
    wrap: (store) => ({
      ...store,
      swap: async (key, from, to) => {
        const stands = to === undefined ? (await store.get(key))?.value : from;
        return store.swap(key, stands, to);
      },
    }),
  },
  'a slot is freed twice': {
    patch: () =>
      replace(
        Slots.prototype,
        'release',
        (release) =>
          function (this: Slots, names) {
            release.call(this, names);
            release.call(this, this.files.slice(0, names.length));
          },
      ),
  },
  'a position instead of a key': {
    patch: () => {
      const undo = [
        replace(
          MediaClient.prototype,
          'queue',
          (queue) =>
            function (this: MediaClient, jobs, options) {
              let position = 0;
              return queue.call(this, jobs, { ...options, key: () => String(position++) });
            },
        ),
        replace(
          JobLedger.prototype,
          'inQueue',
          (inQueue) =>
            function (this: JobLedger, queue, key, job) {
              return { ...inQueue.call(this, queue, key, job), print: '' };
            },
        ),
      ];
      return () => undo.forEach((one) => one());
    },
  },
  'a late answer is dropped': {
    carry: async (answer, isLate) => {
      const response = await answer;
      return isLate() ? never() : response;
    },
  },
  'an unknown job is repeated by itself': {
    patch: () =>
      replace(
        ClaimLoop.prototype,
        'run',
        (run) =>
          function (this: ClaimLoop, call) {
            const changed = Object.assign(call, { sendsUnknown: true });
            return run.call(this, changed) as never; // as: `call()` loses the type parameter
          },
      ),
  },
  "an answer's write is dropped when the store fails": {
    from: 60,
    wrap: (store) => ({
      ...store,
      swap: (key, from, to) => {
        const swapped = store.swap(key, from, to);
        return stateOf(to) === 'answered' ? swapped.catch(() => to) : swapped;
      },
    }),
  },
  'a lost answer frees the key': {
    patch: () =>
      replace(
        JobLedger.prototype,
        'markUnknown',
        () =>
          async function (this: JobLedger, claims) {
            await this.release(claims, []);
            return [];
          },
      ),
  },
  'ids are written in another order': {
    patch: () =>
      replace(
        JobLedger.prototype,
        'accept',
        (accept) =>
          function (this: JobLedger, claims, records, more) {
            return accept.call(this, claims, [...records].reverse(), more);
          },
      ),
  },
  'a living claim is taken over': {
    from: 620,
    wrap: (store) => ({
      ...store,
      get: async (key) => {
        const item = await store.get(key);
        return item && { ...item, ageMs: item.ageMs + 3_600_000 };
      },
    }),
  },
};

/** Returns the state of a key in a text that is about to be written. */
function stateOf(value: string | undefined): unknown {
  return value === undefined ? undefined : (JSON.parse(value) as { state?: unknown }).state;
}

/** Puts another method in place of one; answers how to put it back. */
function replace<T extends object, Name extends keyof T>(
  owner: T,
  name: Name,
  change: (method: T[Name]) => T[Name],
): () => void {
  const method = owner[name];
  owner[name] = change(method);
  return () => {
    owner[name] = method;
  };
}
