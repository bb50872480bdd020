import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { NamedFile } from '../contract/records.js';

/**
 * Reads a CSV file for `contacts.import()`, which takes 5 MB at most ("CSV import", Limits). Rejects
 * with the file system's error when the file cannot be read.
 * @example
 * const { jobId } = await messaging.contacts.import(await csvFile('people.csv'));
 */
export async function csvFile(path: string): Promise<NamedFile> {
  return { data: await readFile(path), filename: basename(path), contentType: 'text/csv' };
}
