import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileJournal } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pendingIn } from '../../src/media/journal.js';

const run = promisify(execFile);
const processes = 4;
const calls = 60;
// Each call writes 20 kB: together far more than a journal grows to before it is compacted.
const writtenBytes = processes * calls * 20_000;

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-journals-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('a journal that several processes share', () => {
  it('loses no entry of any of them, while they compact it all the time', async () => {
    const path = join(folder, 'jobs.jsonl');
    const names = Array.from({ length: processes }, (_, index) => `process_${index}`);
    const start = (name: string) =>
      run(process.execPath, ['test/support/journal-child.mjs', path, name, String(calls)]);
    await Promise.all(names.map(start));

    const { jobs, unknown } = pendingIn(await fileJournal(path).read());
    const left = names.flatMap((name) =>
      // The children let every second job come to its end.
      Array.from({ length: calls / 2 }, (_, index) => `${name}_file_${2 * index + 1}`),
    );
    expect(jobs.map(({ fileId }) => fileId).sort()).toEqual(left.sort());
    expect(unknown).toEqual([]);
    expect((await stat(path)).size).toBeLessThan(writtenBytes / 3);
    expect(await readdir(folder)).toEqual(['jobs.jsonl']);
  });
});
