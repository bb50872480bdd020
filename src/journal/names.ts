import { fingerprint } from '../core/values.js';
import { ConfigurationError } from '../core/errors.js';
import type { JournalStore } from './store.js';

const maxPartLength = 200;

/** Joins parts to one name of printable ASCII; whatever they hold, different parts make different names. */
export function nameOf(parts: readonly string[]): string {
  return parts.map(escaped).join('/');
}

function escaped(part: string): string {
  // By code unit: half of a surrogate pair is no text to most stores.
  const text = part.replace(
    /[^!-~]|[%/]/g,
    (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  // Postgres indexes short keys only.
  return text.length > maxPartLength ? `${text.slice(0, 150)}%%${fingerprint(part)}` : text;
}

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
