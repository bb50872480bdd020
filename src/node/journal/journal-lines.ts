import { isRecord } from '../../contract/records.js';
import type { JournalEntry } from '../../media/jobs/journal-types.js';

/** The line of an entry, with its end. */
export function lineOf(entry: JournalEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** The entries of a journal's text; a line that was torn by a crash, or is none of ours, is passed over. */
export function entriesIn(text: string): JournalEntry[] {
  return text.split('\n').flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return isEntry(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}

function isEntry(value: unknown): value is JournalEntry {
  if (!isRecord(value)) {
    return false;
  }
  const { type, id, fileId, status, jobs, names = [], unassigned = [] } = value;
  if (type === 'settled' || type === 'finished') {
    return isText(fileId) && isText(status);
  }
  if (!isText(id)) {
    return false;
  }
  if (type === 'refused') {
    return true;
  }
  if (type === 'accepted') {
    return isListOf(jobs, isJobOrNull) && isListOf(unassigned, isJob);
  }
  return type === 'intent' && isListOf(jobs, isRecord) && isListOf(names, isText);
}

function isJobOrNull(value: unknown): boolean {
  return value === null || isJob(value);
}

function isJob(value: unknown): boolean {
  return isRecord(value) && isText(value['fileId']) && isText(value['kind']);
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
