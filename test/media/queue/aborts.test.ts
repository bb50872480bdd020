import { MediaClient, memoryJournal, type JournalStore } from 'postreel';
import { createFakeMedia } from 'postreel/testing';
import { expect, it } from 'vitest';

it('an abort while a saved file is written to the journal rejects the queue with its reason', async () => {
  const fake = createFakeMedia({ durations: ({ settings }) => `${Number(settings['content'])}m` });
  const reason = new Error('the process is asked to stop');
  const controller = new AbortController();
  const memory = memoryJournal();
  const journal: JournalStore = {
    ...memory,
    async swap(key, from, to) {
      if (to?.includes('"saved"') === true) {
        controller.abort(reason);
        await new Promise((resolve) => setTimeout(resolve)); // the queue hears of it meanwhile
      }
      return memory.swap(key, from, to);
    },
  };
  const media = new MediaClient({ ...fake.options, journal });
  const texts = ['1', '30', '60'].map((content) => ({ content, voiceId: 'voice_1' }));
  let results = 0;
  const run = async () => {
    for await (const { file } of media.queue(texts, { name: 'texts', signal: controller.signal })) {
      expect(file).toBeDefined();
      results++;
    }
  };
  await expect(run()).rejects.toBe(reason);
  expect(results).toBe(1);
});
