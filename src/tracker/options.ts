import type { TrackerOptions } from './types.js';

/** What an option is: a type, or one of several words. `null` is as if it were left out. */
type Kinds = Readonly<Record<string, string>>;

/** The options of a tracker; `maxAge` has a check of its own. */
export const KINDS: Kinds = {
  publicKey: 'string',
  proxy: 'boolean',
  baseUrl: 'string',
  namespace: 'string',
  email: 'any',
  delivery: 'no-duplicates|no-loss',
  retryAmbiguous: 'boolean',
  storage: 'durable|memory',
  maxQueue: 'number',
  maxBytes: 'number',
  maxAge: 'any',
  consent: 'granted|pending|denied',
  honorGpc: 'boolean',
  limit: 'object',
  beforeSend: 'function',
  fetch: 'function',
};

/** The options that were given, as a copy. Plain JavaScript may pass anything. */
export const readOptions = <Options extends object>(
  given: Options | null | undefined,
  kinds: Kinds,
): Options => {
  const read: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(kinds)) {
    let value: unknown;
    try {
      value = given && Reflect.get(given, name);
    } catch {
      throw new TypeError(`${name} cannot be read`);
    }
    // Other scripts of the page extend the prototype of all objects.
    if (value === Reflect.get(Object.prototype, name)) {
      value = undefined;
    }
    // A flag is on by `true` only: 'false' would turn it on.
    if (value != null && !isOfKind(value, kind)) {
      throw new TypeError(`${name} must be ${kind}`);
    }
    read[name] = value ?? undefined;
  }
  return read as Options; // as: each value was checked
};

const isOfKind = (value: unknown, kind: string): boolean =>
  /\|/.test(kind)
    ? kind.split('|').some((word) => word === value)
    : kind === 'any' || (typeof value === kind && (typeof value !== 'number' || value >= 0));

/**
 * Refuses options that could never work: plain JavaScript, or an unset environment variable.
 *
 * @param isServer Variables may be unset there while pages are prerendered.
 */
export const checkedOptions = (given: TrackerOptions, isServer = false): TrackerOptions => {
  const options = readOptions(given, KINDS);
  const { publicKey, proxy, baseUrl, maxAge = 0, limit } = options;
  // Plain JavaScript may leave it out.
  if (!isServer && (baseUrl as string | undefined) === undefined) {
    throw new TypeError('baseUrl is missing');
  }
  if (publicKey ? !publicKey.startsWith('pk_') : !proxy && !isServer) {
    throw new TypeError(
      publicKey ? 'publicKey must start with pk_' : 'publicKey is missing: is its variable set?',
    );
  }
  // A text like '30m' would become 30 milliseconds, or none.
  if (typeof maxAge !== 'number' || !(maxAge >= 0)) {
    throw new TypeError('maxAge is in ms');
  }
  return {
    ...options,
    ...(limit && { limit: readOptions(limit, { perSecond: 'number', burst: 'number' }) }),
  };
};

/**
 * What the keys of one project begin with in the storage of the origin. The name is encoded, so that
 * no prefix begins with another one: the events of two projects never mix.
 */
export const prefixOf = ({ namespace, publicKey, proxy, baseUrl }: TrackerOptions): string =>
  // An empty name would put two projects into one queue; no key leaves the page for a proxy.
  `postreel:${encodeURIComponent(namespace || (!proxy && publicKey) || baseUrl)}:`;

let count = 1e6;

/** Ids sort in the order of tracking, and need no secure context. */
export const newId = (prefix: string): string => `${prefix}${count++}${Math.random()}`;

/** An address that the service can take for one, or nothing: 'undefined' and a user's id are none. */
export const emailOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' ? value.trim() : '';
  return /^[^\s@]+@[^\s@]+$/.test(text) ? text : undefined;
};
