import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MediaClient, memoryJournal } from 'postreel';
import { saveTo } from 'postreel/node';
import { createFakeMedia } from 'postreel/testing';
import { expect, it } from 'vitest';

it('a file that the caller deletes after it was saved stays deleted, and its result can still save it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'postreel-deleted-'));
  const fake = createFakeMedia();
  const journal = memoryJournal();
  const jobs = [{ content: 'Good morning!', voiceId: 'voice_1' }];
  const run = async () => {
    const media = new MediaClient({ ...fake.options, journal });
    const save = saveTo(join(folder, '{fileId}.mp3'));
    for await (const { file } of media.queue(jobs, { name: 'greetings', save })) {
      return file!;
    }
    throw new Error('no result');
  };
  const { fileId } = await run();
  const path = join(folder, `${fileId}.mp3`);
  expect(existsSync(path)).toBe(true);
  await rm(path);
  const again = await run();
  expect([again.fileId, fake.files.length, existsSync(path)]).toEqual([fileId, 1, false]);
  await saveTo(again, path);
  expect(existsSync(path)).toBe(true);
  await rm(folder, { recursive: true });
});
