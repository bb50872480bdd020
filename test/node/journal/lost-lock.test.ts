import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JournalEntry, JournalIntent } from 'postreel';
import { fileJournal } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useRecordedDisk } from '../../support/node/recorded-disk.js';

const disk = useRecordedDisk();

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-lost-lock-'));
  path = join(folder, 'jobs.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

const intent = (id: string): JournalIntent => ({
  type: 'intent',
  id,
  at: '2026-01-01T00:00:00.000Z',
  jobs: [{ content: 'Hello', voiceId: 'voice_1' }],
  names: ['queue/1'],
});
const accepted = (id: string): JournalEntry => ({
  type: 'accepted',
  id,
  jobs: [{ fileId: 'file_1', kind: 'audio' }],
});
/** The process stands still there, until others take it for dead; then they do their own. */
const stallBefore = (change: string, others: () => Promise<void>) =>
  disk.before(change, async () => {
    await rm(`${path}.lock`, { recursive: true });
    await others();
  });
const lineOf = (entry: JournalEntry) => `${JSON.stringify(entry)}\n`;

describe('a process that stood still while it held the lock of a journal', () => {
  it('does not claim what another one has claimed meanwhile', async () => {
    stallBefore('sync jobs.jsonl', () =>
      appendFile(path, lineOf(intent('other')) + lineOf(accepted('other'))),
    );
    const taken = await fileJournal(path).claim(intent('own'));
    expect(taken.get('queue/1')).toMatchObject({ state: 'accepted', job: { fileId: 'file_1' } });
    expect((await fileJournal(path).pending()).unknown).toEqual([]);
  });

  it('claims what nobody else has claimed', async () => {
    stallBefore('sync jobs.jsonl', () => Promise.resolve());
    expect(await fileJournal(path).claim(intent('own'))).toEqual(new Map());
    expect((await fileJournal(path).pending()).unknown).toEqual([intent('own')]);
  });

  it('writes an entry again that went to a file which was replaced', async () => {
    stallBefore('sync jobs.jsonl', () => writeFile(path, ''));
    await fileJournal(path).append(accepted('own'));
    expect(await fileJournal(path).read()).toEqual([accepted('own')]);
  });

  it('does not replace a journal that others have written to', async () => {
    const large = { ...intent('over'), jobs: [{ content: 'x'.repeat(1_200_000), voiceId: 'v' }] };
    await writeFile(path, lineOf(large));
    stallBefore('sync jobs.jsonl.tmp', () => appendFile(path, lineOf(intent('other'))));
    await fileJournal(path).append({ type: 'refused', id: 'over' });
    expect((await fileJournal(path).pending()).unknown).toEqual([intent('other')]);
  });
});

describe('a journal whose process was killed while it was compacted', () => {
  it('leaves out what was written of it', async () => {
    const large = { ...intent('over'), jobs: [{ content: 'x'.repeat(1_200_000), voiceId: 'v' }] };
    await writeFile(path, lineOf(large));
    await writeFile(`${path}.tmp`, lineOf(intent('ghost')));
    await fileJournal(path).append({ type: 'refused', id: 'over' });
    expect(await readFile(path, 'utf8')).toBe('');
  });
});
