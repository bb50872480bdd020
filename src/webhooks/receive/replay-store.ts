/**
 * Remembers which addresses have had their callback. Give one to several processes that share
 * their callbacks, e.g. over Redis: `SET nonce 1 NX PXAT expiresAt` and `DEL nonce`.
 */
export interface SeenStore {
  /** Takes the one callback of an address, in one atomic step; `false` when it was taken before. */
  claim(nonce: string, expiresAt: number): boolean | PromiseLike<boolean>;
  /** The callback could not be handled: it may come again. */
  release(nonce: string): unknown;
}

const mostNonces = 10_000;

/** A store in this process's memory. When it is full, the oldest nonce goes. */
export function memorySeen({ max = mostNonces }: { max?: number } = {}): SeenStore {
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
