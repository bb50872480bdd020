import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { csvFile } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-csv-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('csvFile', () => {
  it('reads a file for an import, under its own name', async () => {
    const path = join(folder, 'people.csv');
    await writeFile(path, 'email\nann@example.com\n');
    const { fetch, requests } = answering(() => ({ jobId: 'job_1' }));
    await messagingOver(fetch).contacts.import(await csvFile(path));
    const file = (await requests[0]!.formData()).get('file') as File;
    expect([file.name, file.type]).toEqual(['people.csv', 'text/csv']);
    await expect(file.text()).resolves.toBe('email\nann@example.com\n');
  });

  it('of more than 5 MB is refused before it is sent', async () => {
    const path = join(folder, 'people.csv');
    await writeFile(path, 'x'.repeat(5 * 1024 * 1024 + 1));
    const { fetch, requests } = answering(() => ({ jobId: 'job_1' }));
    const call = messagingOver(fetch).contacts.import(await csvFile(path));
    await expect(call).rejects.toMatchObject({ fieldErrors: [{ field: 'file' }] });
    expect(requests).toEqual([]);
  });

  it('of a file that is not there says so', async () => {
    await expect(csvFile(join(folder, 'none.csv'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
