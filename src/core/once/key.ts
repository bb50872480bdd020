import { ConfigurationError, InvalidRequestError } from '../errors.js';
import { isRecord } from '../values.js';
import { nameOf } from './journal.js';
import type { StoredEntry } from './ledger.js';

/** The key of a call, and the content that it stands for. */
export interface OnceKey {
  readonly key: string;
  /** The call, as the journal lists it. */
  readonly call: string;
  /** The fingerprint of the request's content. Empty for `sendEach()`, whose keys accept any content. */
  readonly contentHash: string;
  /** Makes the call again if its outcome is unknown. */
  readonly sendsUnknown: boolean;
  /**
   * Selects the part of the response that is kept. Without it, everything is kept that the request did not
   * contain. If it throws, the call rejects with that error.
   */
  readonly keep?: (data: unknown) => unknown;
}

/** The full key in the store, for the key of a call. */
export function storeKeyOf(scope: string, { key, call }: Pick<OnceKey, 'key' | 'call'>): string {
  return `once/${scope}/${nameOf([call, key])}`;
}

/** The error if the client has no journal. */
export function journalMissingError(name: string): ConfigurationError {
  return new ConfigurationError(
    `${name} needs a journal: create the client with one, \`new MessagingClient({ journal })\` or \`new MediaClient({ journal })\`, where \`journal\` is for example \`fileJournal('journal.jsonl')\` of postreel/node.`,
    { code: 'JOURNAL_MISSING' },
  );
}

/** Serializes content: equal contents give the same text, whatever the order of their fields. */
export function toCanonicalJson(content: unknown): string {
  return JSON.stringify([content], (_, field: unknown) =>
    isRecord(field)
      ? Object.fromEntries(Object.entries(field).sort(([one], [other]) => (one < other ? -1 : 1)))
      : field,
  );
}

/** Throws if the key was used with other content. */
export function requireSameContent(
  found: StoredEntry | undefined,
  { key, call, contentHash }: Pick<OnceKey, 'key' | 'call' | 'contentHash'>,
): void {
  if (!found || found.entry.print === contentHash) {
    return;
  }
  throw new InvalidRequestError(
    `The key "${key}" of ${call} was used with other content before, and that call may have taken effect. Repeat it with the original content to get its response. Use another key only for an additional call, such as a second email to the same person.`,
    { code: 'ONCE_CONFLICT', outcome: 'not-sent' },
  );
}

/** The warning of a call that waits for another process's call with the same key. */
export function claimWaitWarning(
  { key, call }: Pick<OnceKey, 'key' | 'call'>,
  leftMs: number,
): string {
  const until = new Date(Date.now() + leftMs).toISOString();
  return `Another process has claimed the key "${key}" of ${call} and has not written a response yet. This call waits for it until ${until}, and longer only if that process is alive and renews its claim. If that process was killed, the outcome is unknown from then on.`;
}
