import { MediaClient } from 'postreel';
import { createFakeMedia } from 'postreel/testing';
import { expect, it } from 'vitest';

it('after two lost responses in a row the queue ends once the last job in progress was yielded', async () => {
  const fake = createFakeMedia({ durations: () => '1m' });
  fake.fail('POST /v1/generate/audio', { loseAnswer: true, after: 1, times: 2 });
  const media = new MediaClient(fake.options);
  media.on('warning', () => undefined);
  const texts = Array.from({ length: 6 }, (_, index) => ({
    content: `Text ${index}`,
    voiceId: 'voice_1',
  }));
  const ends: string[] = [];
  const run = async () => {
    for await (const { file, error } of media.queue(texts, { concurrency: 2 })) {
      ends.push(file ? 'made' : (error as { outcome: string }).outcome);
    }
  };
  await expect(run()).rejects.toMatchObject({ name: 'PartialError', code: 'OUTCOME_UNKNOWN' });
  expect(ends.sort()).toEqual(['made', 'unknown', 'unknown']);
  expect(fake.files).toHaveLength(3);
});
