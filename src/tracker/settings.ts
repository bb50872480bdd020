import type { TrackerOptions } from './options.js';

/** Milliseconds in the units of `maxAge`. */
const UNITS: Record<string, number> = { m: 6e4, h: 36e5, d: 864e5 };

/** Refuses options that could never work. */
export const checkOptions = ({ publicKey, proxy, baseUrl }: TrackerOptions): void => {
  // Plain JavaScript, or a variable of the environment that is not set.
  if (typeof baseUrl !== 'string' || (!proxy && !publicKey?.startsWith('pk_'))) {
    throw new TypeError('Needs a baseUrl and a pk_ key (or proxy: true)');
  }
};

/** `maxAge` in milliseconds. */
export const maxAgeOf = ({ maxAge = '24h' }: TrackerOptions): number => {
  // NaN for another unit, or none.
  const maxAgeMs =
    typeof maxAge === 'number' ? maxAge : parseFloat(maxAge) * (UNITS[maxAge.slice(-1)] ?? NaN);
  if (!(maxAgeMs >= 0)) {
    throw new TypeError("maxAge: '30m', '24h', '7d' or milliseconds");
  }
  return maxAgeMs;
};

/**
 * What the keys of one project begin with in the storage of the origin, so that the events of two
 * projects never mix. A hash: the key itself need not lie around.
 */
export const prefixOf = ({ namespace, publicKey, baseUrl }: TrackerOptions): string => {
  let hash = 0;
  for (const letter of publicKey ?? baseUrl) {
    hash = (hash * 31 + letter.charCodeAt(0)) | 0;
  }
  return `postreel:${namespace ?? hash}:`;
};

let count = 1e6;

/** Ids sort in the order of tracking, and need no secure context. */
export const newId = (prefix: string): string => `${prefix}${count++}${Math.random()}`;
