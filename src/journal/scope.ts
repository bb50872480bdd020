import { fingerprint } from '../contract/fingerprint.js';
import { ConfigurationError } from '../errors/index.js';
import type { JournalStore } from './store.js';

/**
 * Names the project of a client in a journal: its address, and its group where it has one. Not its key:
 * a project keeps its jobs when its key is renewed.
 */
export function scopeOf(
  { needsGroup }: JournalStore,
  { baseUrl, group }: { readonly baseUrl: string; readonly group: string | undefined },
): string {
  if (needsGroup !== undefined && group === undefined) {
    throw new ConfigurationError(
      `Several projects may share this journal: ${needsGroup}, or give the client a \`rateLimit.group\`.`,
      { code: 'JOURNAL_SHARED' },
    );
  }
  return fingerprint(JSON.stringify([baseUrl, group]));
}
