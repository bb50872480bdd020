import type { TrackerOptions } from './options.js';

/** Refuses options that could never work: plain JavaScript, or an unset environment variable. */
export const checkOptions = (
  { publicKey, proxy, baseUrl, maxAge = 0 }: TrackerOptions = {} as TrackerOptions, // plain JavaScript
): void => {
  // Plain JavaScript may leave it out.
  if ((baseUrl as string | undefined) === undefined) {
    throw new TypeError('baseUrl is missing');
  }
  if (!proxy && !publicKey?.startsWith('pk_')) {
    throw new TypeError('publicKey must start with pk_');
  }
  // A text like '30m' would become 30 milliseconds, or none.
  if (maxAge !== Math.abs(maxAge)) {
    throw new TypeError('maxAge is in ms');
  }
};

/**
 * What the keys of one project begin with in the storage of the origin. The name is encoded, so that
 * no prefix begins with another one: the events of two projects never mix.
 */
export const prefixOf = ({ namespace, publicKey, baseUrl }: TrackerOptions): string =>
  `postreel:${encodeURIComponent(namespace ?? publicKey ?? baseUrl)}:`;

let count = 1e6;

/** Ids sort in the order of tracking, and need no secure context. */
export const newId = (prefix: string): string => `${prefix}${count++}${Math.random()}`;
