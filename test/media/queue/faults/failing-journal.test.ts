import { MediaClient, memoryJournal, type JournalStore } from 'postreel';
import { createFakeMedia } from 'postreel/testing';
import { expect, it } from 'vitest';

it('a response is written over the claim of its call, though an earlier claim could not be released', async () => {
  const fake = createFakeMedia({ durations: () => '1m' });
  const memory = memoryJournal();
  let claims = 0;
  let returns = 0;
  const journal: JournalStore = {
    ...memory,
    async swap(key, from, to) {
      const isClaim = to?.includes('"claimed"') === true;
      const isFailing = isClaim ? ++claims <= 3 : to === undefined && ++returns <= 3;
      if (isFailing) {
        throw new Error('the store is gone');
      }
      return memory.swap(key, from, to);
    },
  };
  const media = new MediaClient({ ...fake.options, journal });
  media.on('warning', () => undefined);
  const text = { content: 'Good morning!', voiceId: 'voice_1' };
  for await (const { file } of media.queue([text], { name: 'texts' })) {
    expect(file?.fileId).toBe('file_000001');
  }
  const entries = (await memory.list('')).map(({ value }) => JSON.parse(value) as unknown);
  expect(entries).toMatchObject([{ state: 'answered', end: 'saved' }]);
});

it('a late response is written under its key, though a later call with the key is unknown', async () => {
  const fake = createFakeMedia();
  const endpoint = 'POST /v1/generate/audio';
  fake.fail(endpoint, { slow: 60_000 });
  fake.fail(endpoint, { drop: true, after: 1 });
  const media = new MediaClient({ ...fake.options, journal: memoryJournal(), timeout: 5_000 });
  const text = { content: 'Good morning!', voiceId: 'voice_1' };
  const options = { once: 'text/1', retry: { unknownOutcome: true }, retries: 1 };
  await expect(media.generate.audio(text, options)).rejects.toMatchObject({ outcome: 'unknown' });
  await fake.clock.advance('2m');
  const job = await media.generate.audio(text, options);
  expect(job.fileId).toBe('file_000001');
  expect(fake.files).toHaveLength(1);
});
