import { LongAudioError, memoryJournal, type GenerationJob } from 'postreel';
import { signWebhookUrl } from 'postreel/webhooks';
import { describe, expect, it, vi } from 'vitest';
import {
  audioEndpoint,
  ending,
  fakeService,
  inTime,
  pass,
  speech,
  useFakeTime,
} from '../../../support/media/fake-time.js';

useFakeTime();

const sentence = (number: number) => `Sentence ${number} has ${'word '.repeat(30)}and ends.`;
const longText = (sentences: number) =>
  Array.from({ length: sentences }, (_, number) => sentence(number)).join(' ');

it('the error of a text that is too long for audio() names longAudio()', async () => {
  const { fake, media } = fakeService();
  const { error } = await inTime(
    ending(media().generate.audio(speech({ content: longText(200) }))),
  );
  expect(error).toMatchObject({ name: 'InvalidRequestError', outcome: 'not-sent' });
  expect(String(error)).toMatch(
    /must be at most 10000 characters; got \d+.*`generate.longAudio\(\)`/,
  );
  expect(fake.requests).toEqual([]);
});

it.each([
  ['audio()', 'audio', ' \n '],
  ['longAudio()', 'longAudio', ' \n '],
  ['longAudio() in many parts', 'longAudio', ' '.repeat(25_000)],
] as const)('a text of white space is never sent by %s', async (_, method, content) => {
  const { fake, media } = fakeService();
  const { error } = await inTime(
    ending(Promise.resolve(media().generate[method](speech({ content }))) as Promise<unknown>),
  );
  expect(error).toMatchObject({ name: 'InvalidRequestError' });
  expect(fake.requests).toEqual([]);
});

describe('longAudio', () => {
  it('submits a part again whose speech failed, with `retryFailed`', async () => {
    const { fake, media } = fakeService();
    const client = media({ journal: memoryJournal() });
    fake.outcome({ status: 'error' });
    const request = speech({ content: longText(200) });
    const make = (retryFailed: boolean) =>
      inTime(client.generate.longAudio(request, { once: 'book', retryFailed }));
    const parts = await make(false);
    await inTime(ending(parts[0]!.waitForFile()));
    expect(idsOf(await make(false))).toEqual(idsOf(parts));
    const [again, ...others] = idsOf(await make(true));
    expect(others).toEqual(idsOf(parts.slice(1)));
    expect([again, fake.files.length]).toEqual([fake.files.at(-1)!.fileId, parts.length + 1]);
  });

  it('writes the range of each part into the journal, so that they can be ordered after a restart', async () => {
    const { media } = fakeService();
    const client = media({ journal: memoryJournal() });
    const parts = await inTime(client.generate.longAudio(speech({ content: longText(200) })));
    await inTime(client.generate.longAudio(speech()));
    const { jobs } = await inTime(client.resumeAll());
    const partOf = new Map(jobs.map(({ fileId, part }) => [fileId, part]));
    expect(partOf.size).toBe(parts.length + 1);
    expect(parts.map(({ fileId }) => partOf.get(fileId))).toEqual(parts.map(({ part }) => part));
    expect(jobs.filter(({ part }) => part === undefined)).toHaveLength(1);
  });

  it('submits a text in parts, in order, cut at the ends of sentences', async () => {
    const { fake, media } = fakeService();
    const content = longText(200);
    const request = speech({ content, playbackRate: 1.5, format: 'wav' });
    const jobs = await inTime(media().generate.longAudio(request));
    expect(content.length).toBeGreaterThan(30_000);
    expect(jobs.map(({ fileId }) => fileId)).toEqual(fake.files.map(({ fileId }) => fileId));
    const parts = fake.files.map(({ settings }) => String(settings['content']));
    expect(parts.join(' ')).toBe(content);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(10_000);
      expect(part).toMatch(/ends\.$/);
    }
    expect(fake.files[0]!.settings).toMatchObject({ playbackRate: 1.5, format: 'wav' });
  });

  it('submits a short text unchanged', async () => {
    const { fake, media } = fakeService();
    expect(await inTime(media().generate.longAudio(speech()))).toHaveLength(1);
    expect(fake.files[0]!.settings['content']).toBe('Good morning!');
  });

  it('keeps to ten calls in ten minutes and twenty pending jobs', async () => {
    const { fake, media } = fakeService({ durations: () => '25m' });
    const jobs = await inTime(media().generate.longAudio(speech({ content: longText(1500) })));
    expect(jobs.length).toBeGreaterThan(22);
    expect(fake.requests.every(({ status }) => status === 200)).toBe(true);
  });

  it('rejects with an error that has the accepted jobs', async () => {
    const { fake, media } = fakeService();
    fake.fail(audioEndpoint, { status: 500, after: 2 });
    const call = media().generate.longAudio(speech({ content: longText(200) }));
    const { error } = await inTime(ending(call));
    expect(error).toBeInstanceOf(LongAudioError);
    expect(error).toMatchObject({
      code: 'LONG_AUDIO_INCOMPLETE',
      outcome: 'unknown',
      message: expect.stringMatching(
        /^2 of \d parts of the text were submitted, and are in `jobs`\. POST /,
      ) as string,
      cause: { name: 'ServerError' },
    });
    const { jobs } = error as LongAudioError; // as: just seen
    expect(idsOf(jobs)).toEqual(fake.files.map(({ fileId }) => fileId));
    expect(jobs).toHaveLength(2);
  });

  it('gives each job the range of its part, also after a restart', async () => {
    const { fake, media } = fakeService();
    const content = `\n  ${longText(120)}\n`;
    const client = media();
    const jobs = await inTime(client.generate.longAudio(speech({ content })));
    for (const [index, job] of jobs.entries()) {
      const again = client.job(JSON.parse(JSON.stringify(job)) as typeof job);
      const { start, end } = again.part!;
      expect(content.slice(start, end)).toBe(fake.files[index]!.settings['content']);
    }
  });

  it.each(['', 42, undefined])('rejects the text %j before it sends a request', async (content) => {
    const { fake, media } = fakeService();
    const call = media().generate.longAudio(speech({ content: content as string }));
    const { error } = await inTime(ending(call));
    expect(error).toMatchObject({ name: 'InvalidRequestError', outcome: 'not-sent' });
    expect(fake.requests).toEqual([]);
  });

  it.each(['enough', new Error('enough'), undefined])(
    'keeps the accepted jobs when it is aborted with %s',
    async (reason) => {
      const { fake, media } = fakeService();
      const controller = new AbortController();
      const client = media();
      client.once('response', () => controller.abort(reason));
      const request = speech({ content: longText(200) });
      const { error } = await inTime(
        ending(client.generate.longAudio(request, { signal: controller.signal })),
      );
      expect(error).toBeInstanceOf(LongAudioError);
      expect(error).toMatchObject({
        outcome: 'not-sent',
        cause: controller.signal.reason as never,
      });
      expect(controller.signal.reason).not.toHaveProperty('jobs');
      expect(idsOf((error as LongAudioError).jobs)).toEqual([fake.files[0]!.fileId]);
    },
  );

  it('completes the call in flight when it is aborted, because its job is paid for', async () => {
    const { fake, media } = fakeService();
    const controller = new AbortController();
    const client = media({
      fetch: async (...call) => {
        const response = await fake.fetch(...call);
        if (fake.files.length === 2) {
          controller.abort('enough');
        }
        return response;
      },
    });
    const request = speech({ content: longText(200) });
    const { signal } = controller;
    const { error } = await inTime(ending(client.generate.longAudio(request, { signal })));
    expect(fake.files).toHaveLength(2);
    expect(idsOf((error as LongAudioError).jobs)).toEqual(fake.files.map(({ fileId }) => fileId));
  });

  it('ends at once when it is aborted while a part waits for the rate limit', async () => {
    const { fake, media } = fakeService();
    const controller = new AbortController();
    const request = speech({ content: longText(1500) });
    const call = media().generate.longAudio(request, { signal: controller.signal });
    const end = ending(call);
    await pass(60_000);
    const at = Date.now();
    controller.abort('enough');
    const { error } = await inTime(end);
    expect(Date.now() - at).toBeLessThan(1_000);
    expect((error as LongAudioError).jobs).toHaveLength(fake.files.length);
    expect(fake.files.length).toBeLessThan(11);
  });

  it('with `once` submits each part once, under a separate key', async () => {
    const { fake, media } = fakeService();
    const journal = memoryJournal();
    const request = speech({ content: longText(200) });
    const make = () => media({ journal }).generate.longAudio(request, { once: 'book/1' });
    fake.fail(audioEndpoint, { status: 400, after: 2 });
    expect((await inTime(ending(make()))).error).toBeInstanceOf(LongAudioError);
    const jobs = await inTime(make());
    expect(idsOf(jobs)).toEqual(fake.files.map(({ fileId }) => fileId));
    expect(idsOf(await inTime(make()))).toEqual(idsOf(jobs));
    const keys = (await media({ journal }).journal.list()).map(({ key }) => key);
    expect(keys.sort()).toEqual(jobs.map((_, index) => `book/1/${index}`));
  });

  it.each([undefined, ''])('rejects the key %j before it sends a request', async (once) => {
    const { fake, media } = fakeService();
    const call = media({ journal: memoryJournal() }).generate.longAudio(speech(), {
      once: once as string,
    });
    expect((await inTime(ending(call))).error).toMatchObject({ name: 'InvalidRequestError' });
    expect(fake.requests).toEqual([]);
  });

  it('rejects with the original error when nothing was submitted', async () => {
    const { fake, media } = fakeService();
    const signal = AbortSignal.abort('no');
    const call = media().generate.longAudio(speech({ content: longText(200) }), { signal });
    expect((await inTime(ending(call))).error).toBe('no');
    expect(fake.requests).toEqual([]);
  });

  it('calls the `webhook` function for each part', async () => {
    const { fake, media } = fakeService();
    const webhook = vi.fn((index: number) => Promise.resolve(`https://shop.example/done/${index}`));
    await inTime(media().generate.longAudio({ ...speech({ content: longText(100) }), webhook }));
    expect(fake.files.length).toBeGreaterThan(1);
    expect(fake.files.map(({ settings }) => settings['webhook'])).toEqual(
      fake.files.map((_, index) => `https://shop.example/done/${index}`),
    );
  });

  it('rejects one signed webhook for several parts before it sends a request', async () => {
    const { fake, media } = fakeService();
    const secret = 'a secret of the tests, 32 letters';
    const webhook = await signWebhookUrl('https://shop.example/done', { secret });
    const long = media().generate.longAudio(speech({ content: longText(100), webhook }));
    const { error } = await inTime(ending(long));
    expect(error).toMatchObject({
      name: 'InvalidRequestError',
      message: expect.stringContaining(
        '`webhook` is signed for a single callback, but the text has 2 parts. Pass a function',
      ) as string,
    });
    expect(fake.requests).toEqual([]);
    expect(await inTime(media().generate.longAudio(speech({ webhook })))).toHaveLength(1);
  });
});

function idsOf(jobs: readonly GenerationJob[]): string[] {
  return jobs.map(({ fileId }) => fileId);
}
