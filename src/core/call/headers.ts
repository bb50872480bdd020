import { headersForm, invalidOption } from '../options.js';
import type { HeadersInput } from '../types.js';
import { tagOf } from '../values.js';

/** Headers by name, in lower case. */
export type HeaderRecord = Record<string, string>;

/**
 * Reads the headers that a caller passed, without those that are `undefined` or `null`. If a header cannot be
 * sent, the error names it: `fetch` would fail as if the connection were lost, or send the word "undefined".
 */
export function readHeaders(input: HeadersInput | undefined): HeaderRecord {
  const headers: HeaderRecord = {};
  for (const [given, value] of entriesOf(input)) {
    if (value === undefined || value === null) {
      continue;
    }
    const name = typeof given === 'string' ? given.toLowerCase() : '';
    if (!clientHeaders.has(name)) {
      headers[name] = toHeaderValue(name, value);
    }
  }
  return headers;
}

/** Headers that the client sets. */
const clientHeaders: ReadonlySet<string> = new Set(['authorization', 'content-type', 'cookie']);

/** Headers of a connection or a body: `fetch` sets them, and fails or hangs if a caller does. */
const connectionHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding'],
  ...['upgrade', 'proxy-authenticate', 'proxy-authorization', 'content-length', 'expect'],
]);

function entriesOf(input: unknown): (readonly unknown[])[] {
  if (input === undefined) {
    return [];
  }
  let entries: unknown[];
  try {
    entries = typeof input === 'object' && input !== null ? pairsOf(input) : [input];
  } catch (cause) {
    throw invalidOption('`headers` cannot be read', cause);
  }
  // A pair is an array of two, of which the first is the name.
  const isPair = (entry: unknown): entry is readonly unknown[] =>
    Array.isArray(entry) && entry.length === 2;
  if (!entries.every(isPair)) {
    throw invalidOption(`\`headers\` must be ${headersForm}`);
  }
  return entries;
}

function pairsOf(input: object): unknown[] {
  if (Symbol.iterator in input) {
    return [...(input as Iterable<unknown>)]; // as: it has a `Symbol.iterator`
  }
  return tagOf(input) === 'Object' ? Object.entries(input) : [input];
}

function toHeaderValue(name: string, value: unknown): string {
  if (connectionHeaders.has(name)) {
    throw invalidOption(`\`headers.${name}\` is set by \`fetch\` itself. Leave it out`);
  }
  const isText = typeof value === 'string' || typeof value === 'number';
  try {
    if (isText) {
      new Headers([[name, String(value)]]);
      return String(value);
    }
  } catch {
    // the error of `Headers` would quote the value
  }
  throw invalidOption(
    `\`headers.${name}\` is not a header that can be sent: use ASCII text without line breaks`,
  );
}
