import { readOptions, wholeNumber, withMethods } from '../../core/options.js';

/**
 * Remembers the addresses that have received their callback.
 *
 * Processes behind one address share a store, e.g. in Redis: `SET key 1 NX PXAT expiresAt` and `DEL key`. An
 * inbox claims two keys for each callback: the nonce of its address, and the nonce with the file's id.
 */
export interface SeenStore {
  /** Claims a key, atomically. Returns `false` if it is claimed already. */
  claim(key: string, expiresAt: number): boolean | PromiseLike<boolean>;
  /** Releases a key, because its callback could not be handled: it can be claimed again. */
  release(key: string): unknown;
}

/** The kind of the option `seen`. */
export const seenStore = withMethods<SeenStore>(
  'a store, such as `memorySeen()`',
  ...(['claim', 'release'] as const),
);

const maxKeys = 20_000;

/** A store in this process's memory. When it is full, it removes the oldest keys. */
export function memorySeen(options?: { max?: number | undefined }): SeenStore {
  const { max = maxKeys } = readOptions(
    options,
    { max: wholeNumber(1) },
    {
      name: '`memorySeen()`',
      example: '{ max: 1_000 }',
    },
  );
  const expiries = new Map<string, number>();
  const makeRoom = () => {
    if (expiries.size < max) {
      return;
    }
    const now = Date.now();
    for (const [key, expiresAt] of expiries) {
      if (expiresAt <= now) {
        expiries.delete(key);
      }
    }
    for (const key of expiries.keys()) {
      if (expiries.size < max) {
        return;
      }
      expiries.delete(key);
    }
  };
  return {
    claim(key, expiresAt) {
      if (expiries.has(key)) {
        return false;
      }
      makeRoom();
      expiries.set(key, expiresAt);
      return true;
    },
    release: (key) => expiries.delete(key),
  };
}
