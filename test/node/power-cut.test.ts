import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { MediaFile } from 'postreel';
import { fileJournal, saveTo } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useRecordedDisk } from '../support/node/recorded-disk.js';

// A test cannot cut the power: the order of writes, syncs and renames shows what would be safe.
const { changes } = useRecordedDisk();

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel'));
});
afterEach(() => rm(folder, { recursive: true }));

/** The name of the folder, as the recorder writes it. */
const here = () => basename(folder);

describe('a journal in a file', () => {
  it('has a write on the disk when its promise resolves, and also the name of a new file', async () => {
    const journal = fileJournal(join(folder, 'jobs.jsonl'));
    await journal.swap('a', undefined, '1');
    expect(changes).toEqual(['appendFile jobs.jsonl', 'sync jobs.jsonl', `sync ${here()}`]);
    changes.length = 0;
    await journal.swap('b', undefined, '1');
    expect(changes).toEqual(['appendFile jobs.jsonl', 'sync jobs.jsonl']);
  });

  it('is replaced only by a file that is on the disk', async () => {
    const path = join(folder, 'jobs.jsonl');
    const large = 'x'.repeat(1_200_000);
    await writeFile(path, `${JSON.stringify(['swap', 'a', null, large, Date.now()])}\n`);
    await fileJournal(path).swap('a', large, undefined);
    await expect.poll(async () => (await readFile(path, 'utf8')).length).toBeLessThan(100);
    await expect.poll(() => changes).toHaveLength(6);
    expect(changes).toEqual([
      'appendFile jobs.jsonl',
      'sync jobs.jsonl',
      'appendFile jobs.jsonl.*.draft',
      'sync jobs.jsonl.*.draft',
      'rename jobs.jsonl.*.draft to jobs.jsonl',
      `sync ${here()}`,
    ]);
  });
});

describe('saveTo()', () => {
  it('gives a file its final name after its bytes are on the disk', async () => {
    const headers = { 'content-type': 'audio/mpeg' };
    const fetch = () => Promise.resolve(new Response('Good morning', { headers }));
    const file = new MediaFile('file_1', 'https://cdn.test/file_1.mp3', { fetch });
    await saveTo(file, join(folder, 'speech.mp3'));
    expect(changes).toEqual([
      'write .postreel-*.part',
      'sync .postreel-*.part',
      'rename .postreel-*.part to speech.mp3',
      `sync ${here()}`,
    ]);
  });
});
