import type { HeadersInput } from '../../contract/call.js';
import { invalidOption } from '../../contract/options.js';

/** Headers with their names in small letters. */
export type HeaderRecord = Record<string, string>;

/**
 * Reads what a caller gave as headers; what is `undefined` or `null` is left out. What cannot be sent
 * is refused by name: `fetch` would fail as if the connection had, or send the word "undefined".
 */
export function readHeaders(input: HeadersInput | null | undefined): HeaderRecord {
  const headers: HeaderRecord = {};
  for (const [given, value] of entriesOf(input)) {
    if (value === undefined || value === null) {
      continue;
    }
    const name = typeof given === 'string' ? given.toLowerCase() : '';
    if (!ours.has(name)) {
      headers[name] = sendable(name, value);
    }
  }
  return headers;
}

/** What the client sets itself. */
const ours: ReadonlySet<string> = new Set(['authorization', 'content-type', 'cookie']);

/** What belongs to one connection or to the body: `fetch` sets them, and fails or hangs on others. */
const ofTheConnection: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding'],
  ...['upgrade', 'proxy-authenticate', 'proxy-authorization', 'content-length', 'expect'],
]);

export const headersForm = 'an object of names and values, a `Headers`, a `Map` or a list of pairs';

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
  // An array of two, of which the first is the name.
  const isPair = (entry: unknown): entry is readonly unknown[] =>
    Array.isArray(entry) && entry.length === 2;
  if (!entries.every(isPair)) {
    throw invalidOption(`\`headers\` must be ${headersForm}`);
  }
  return entries;
}

function pairsOf(input: object): unknown[] {
  if (Symbol.iterator in input) {
    return [...(input as Iterable<unknown>)]; // by its `Symbol.iterator`
  }
  const tag = Object.prototype.toString.call(input);
  return tag === '[object Object]' ? Object.entries(input) : [input];
}

function sendable(name: string, value: unknown): string {
  if (ofTheConnection.has(name)) {
    throw invalidOption(`\`headers.${name}\` is set by \`fetch\` itself. Leave it out`);
  }
  const isText = typeof value === 'string' || typeof value === 'number';
  try {
    if (isText) {
      new Headers([[name, String(value)]]);
      return String(value);
    }
  } catch {
    // Its message would quote the value.
  }
  throw invalidOption(
    `\`headers.${name}\` is not a header that can be sent: use ASCII text without line breaks`,
  );
}
