import type { TrackerOptions } from './types.js';

/** The kind of each option: a type, or one of several words separated by `|`. `null` counts as omitted. */
type Kinds = Readonly<Record<string, string>>;

/** The kinds of a tracker's options; `maxAge` and `email` are checked separately. */
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

/** Copies the options and checks their names and kinds. Plain JavaScript may pass anything. */
export const readOptions = <Options extends object>(
  given: Options | null | undefined,
  kinds: Kinds,
): Options => {
  const read: Record<string, unknown> = {};
  for (const name of Object.keys(given ?? {})) {
    if (!(name in kinds)) {
      const meant = Object.keys(kinds).find((known) => isNear(name, known));
      throw new TypeError(`${name} is not an option${meant ? `. Did you mean ${meant}?` : ''}`);
    }
  }
  for (const [name, kind] of Object.entries(kinds)) {
    let value: unknown;
    try {
      value = given && Reflect.get(given, name);
    } catch {
      throw new TypeError(`${name} cannot be read`);
    }
    // Ignore properties that other scripts have added to the prototype of all objects.
    if (value === Reflect.get(Object.prototype, name)) {
      value = undefined;
    }
    if (name === 'consent') {
      // An answer that is not known yet is not a consent.
      value ??= Object.hasOwn(given ?? {}, name) ? 'pending' : 'granted';
    }
    // A flag must be a boolean: the string 'false' would turn it on.
    if (value != null && !hasKind(value, kind)) {
      throw new TypeError(`${name} must be ${kind}`);
    }
    read[name] = value ?? undefined;
  }
  return read as Options; // as: each value was checked
};

/** Is one name made from the other by at most two typos? `core/typos.ts` finds more, and is too large for a page. */
const isNear = (one: string, other: string, typos = 2): boolean => {
  const [rest, otherRest] = [one.slice(1), other.slice(1)];
  if (one[0]?.toLowerCase() === other[0]?.toLowerCase()) {
    return !one || isNear(rest, otherRest, typos);
  }
  const left = typos - 1;
  return (
    left >= 0 &&
    (isNear(rest, other, left) || isNear(one, otherRest, left) || isNear(rest, otherRest, left))
  );
};

const hasKind = (value: unknown, kind: string): boolean =>
  /\|/.test(kind)
    ? kind.split('|').some((word) => word === value)
    : kind === 'any' || (typeof value === kind && (typeof value !== 'number' || value >= 0));

/**
 * Throws a `TypeError` for options that could never work, as passed by plain JavaScript or an unset
 * environment variable.
 *
 * @param isServer True on a server, where variables may be unset while pages are prerendered.
 */
export const checkOptions = (given: TrackerOptions, isServer = false): TrackerOptions => {
  const options = readOptions(given, KINDS);
  const { publicKey, proxy, baseUrl, maxAge = 0, limit } = options;
  // Plain JavaScript may omit `baseUrl`.
  if (!isServer && (baseUrl as string | undefined) === undefined) {
    throw new TypeError('baseUrl is missing');
  }
  if (publicKey ? !publicKey.startsWith('pk_') : !proxy && !isServer) {
    throw new TypeError(
      publicKey ? 'publicKey must start with pk_' : 'publicKey is missing: is its variable set?',
    );
  }
  // A string like '30m' would become 30 milliseconds, or NaN.
  if (typeof maxAge !== 'number' || !(maxAge >= 0)) {
    throw new TypeError('maxAge is in ms');
  }
  return {
    ...options,
    ...(limit && { limit: readOptions(limit, { perSecond: 'number', burst: 'number' }) }),
  };
};

/**
 * The prefix of one project's keys in the storage of the origin. The name is encoded, so that no prefix
 * begins with another prefix: the events of two projects never mix.
 */
export const prefixOf = ({ namespace, publicKey, proxy, baseUrl }: TrackerOptions): string =>
  // An empty name would put two projects into one queue. A proxy does not need the key, so its queue is named
  // after the address.
  `postreel:${encodeURIComponent(namespace || (!proxy && publicKey) || baseUrl)}:`;

let count = 1e6;

/** Creates an id. Ids sort in the order of tracking, and need no secure context. */
export const newId = (prefix: string): string => `${prefix}${count++}${Math.random()}`;

/** The trimmed email address; `undefined` if the value is not one, such as 'undefined' or a user id. */
export const emailOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' ? value.trim() : '';
  return /^[^\s@]+@[^\s@]+$/.test(text) ? text : undefined;
};
