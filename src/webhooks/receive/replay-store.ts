import { readOptions, wholeNumber, withMethods } from '../../core/options.js';

/**
 * Remembers which addresses have had their callback. Processes behind one address share a store,
 * e.g. in Redis: `SET nonce 1 NX PXAT expiresAt` and `DEL nonce`.
 */
export interface SeenStore {
  /** Claims the one callback of an address, atomically. `false` when it was claimed before. */
  claim(nonce: string, expiresAt: number): boolean | PromiseLike<boolean>;
  /** The callback could not be handled: accept it once more. */
  release(nonce: string): unknown;
}

/** The kind of the option `seen`. */
export const seenStore = withMethods<SeenStore>(
  'a store, such as `memorySeen()`',
  ...(['claim', 'release'] as const),
);

const maxNonces = 10_000;

/** A store in this process's memory. When it is full, it forgets the oldest nonce. */
export function memorySeen(options?: { max?: number | undefined }): SeenStore {
  const { max = maxNonces } = readOptions(
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
    for (const [nonce, expiresAt] of expiries) {
      if (expiresAt <= now) {
        expiries.delete(nonce);
      }
    }
    for (const nonce of expiries.keys()) {
      if (expiries.size < max) {
        return;
      }
      expiries.delete(nonce);
    }
  };
  return {
    claim(nonce, expiresAt) {
      if (expiries.has(nonce)) {
        return false;
      }
      makeRoom();
      expiries.set(nonce, expiresAt);
      return true;
    },
    release: (nonce) => expiries.delete(nonce),
  };
}
