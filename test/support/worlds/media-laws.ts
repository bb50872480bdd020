import { expect } from 'vitest';
import { ending, speech, video } from '../media/fake-time.js';
import type { Law, MediaScene } from './law.js';

/** Every job is made once, ends once and is handed out under its own name. */
export const fileLaws: readonly Law<MediaScene>[] = [
  {
    name: 'videos are made once, in submitted order, and every file arrives',
    async holds({ fake, media }) {
      const payload = ['a', 'b', 'c'].map((fileName) => video({ fileName }));
      const jobs = await media.generate.video({ payload });
      expect(fake.files.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
      const files = await media.waitForFiles(jobs.map(({ fileId }) => fileId));
      expect(files.map((one) => one.file?.url)).toEqual(fake.files.map(({ download }) => download));
    },
  },
  {
    name: 'speech is made once and arrives',
    async holds({ fake, media }) {
      const job = await media.generate.audio(speech());
      const file = await job.waitForFile();
      expect(fake.files).toHaveLength(1);
      expect(file.url).toBe(fake.files[0]?.download);
      const bytes = Buffer.from(await file.arrayBuffer());
      // Not `toEqual`, which walks through megabytes one by one.
      expect(bytes.equals(fake.contentOf(fake.files[0]!.fileId))).toBe(true);
    },
  },
  {
    name: 'a failure and a cancellation reject, each as what it is',
    async holds({ fake, media }) {
      for (const [status, name] of [
        ['error', 'GenerationFailedError'],
        ['canceled', 'GenerationCanceledError'],
      ] as const) {
        fake.outcome({ status });
        const job = await media.generate.audio(speech());
        const { error } = await ending(job.waitForFile());
        expect(error).toMatchObject({ name });
      }
    },
  },
];

/** What the service did not make, or may have made, ends as that. */
export const refusalLaws: readonly Law<MediaScene>[] = [
  {
    name: 'what the service refuses rejects, and nothing is made',
    async holds({ fake, media }) {
      const { error } = await ending(
        media.generate.video({ payload: [video({ brandId: 'brand_nobody' })] }),
      );
      expect(error).toMatchObject({ outcome: 'rejected' });
      const folder = { folderId: 'folder_nobody', payload: [video()] };
      const unknown = await ending(media.generate.video(folder));
      expect(unknown.error).toMatchObject({ outcome: 'rejected' });
      const wrong = await ending(media.with({ apiKey: 'wrong-key-000' }).generate.audio(speech()));
      expect(wrong.error).toMatchObject({ outcome: 'rejected' });
      expect(String(wrong.error)).not.toContain('wrong-key-000');
      expect(fake.files).toEqual([]);
    },
  },
  {
    name: 'a lost answer is unknown, and nothing is made twice',
    async holds({ fake, media }) {
      fake.fail('POST /v1/generate/audio', { loseAnswer: true });
      const { error } = await ending(media.generate.audio(speech()));
      expect(error).toMatchObject({ outcome: 'unknown' });
      expect(fake.files).toHaveLength(1);
    },
  },
];

/** A queue keeps to the limit of pending jobs, however the service tells of it. */
export const placeLaws: readonly Law<MediaScene>[] = [
  {
    name: 'a queue waits for places that others hold',
    async holds({ fake, media, world }) {
      if (world.statusCounts || world.capStatus !== 429 || world.batch !== 'whole') {
        return; // only a 429 says that nothing was made
      }
      const others = media.with({ rateLimit: false });
      await others.generate.video({ payload: Array.from({ length: 18 }, () => video()) });
      const input = ['a', 'b', 'c', 'd'].map((fileName) => video({ fileName }));
      const results = await collect(media.queue(input));
      expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
      expect(
        fake.files
          .slice(18)
          .map(({ name }) => name)
          .sort(),
      ).toEqual(['a', 'b', 'c', 'd']);
    },
  },
];

/** A queue makes all of its jobs. */
export const queueLaws: readonly Law<MediaScene>[] = [
  {
    name: 'a queue makes each job once',
    async holds({ fake, media }) {
      const input = Array.from({ length: 25 }, (_, index) => video({ fileName: `job ${index}` }));
      const results = await collect(media.queue(input));
      const failures = results.filter(({ error }) => error !== undefined);
      expect(failures).toEqual([]);
      expect(results.map(({ index }) => index).sort((a, b) => a - b)).toEqual(
        input.map((_, index) => index),
      );
      const names = fake.files.map(({ name }) => name);
      expect(new Set(names)).toEqual(new Set(input.map(({ fileName }) => fileName)));
      expect(names).toHaveLength(25);
    },
  },
];

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) {
    list.push(item);
  }
  return list;
}
