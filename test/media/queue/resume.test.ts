import { memoryJournal } from 'postreel';
import { describe, expect, it } from 'vitest';
import { calls, collect, videos } from '../../support/media/queue-helpers.js';
import {
  ending,
  fakeService,
  inTime,
  pass,
  speech,
  statusEndpoint,
  useFakeTime,
  video,
  videoEndpoint,
} from '../../support/media/fake-time.js';

useFakeTime();

describe('an abort of a queue', () => {
  it('before the start sends nothing', async () => {
    const { fake, media } = fakeService();
    const queue = media().queue(videos(3), { signal: AbortSignal.abort('before') });
    expect((await inTime(ending(collect(queue)))).error).toBe('before');
    expect(fake.requests).toEqual([]);
  });

  it('releases the slots of a call that made nothing', async () => {
    const { fake, media } = fakeService();
    const controller = new AbortController();
    const fetch: typeof globalThis.fetch = async () => {
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      return Response.json({ success: false, message: 'Too large.' }, { status: 413 });
    };
    const { signal } = controller;
    const run = ending(collect(media({ fetch }).queue(videos(20), { signal })));
    await pass(1_000);
    controller.abort('enough');
    await inTime(run);
    await pass(10_000);
    const startedAt = Date.now();
    await inTime(collect(media().queue(videos(20))));
    const [first] = fake.requests;
    expect(first!.at - startedAt).toBeLessThan(1_000);
  });

  it('stops submitting and waiting at once, and `running` lists the jobs in progress', async () => {
    const { fake, media } = fakeService({ durations: () => '8m' });
    const controller = new AbortController();
    const client = media();
    const queue = client.queue(videos(50), { signal: controller.signal });
    const run = ending(collect(queue));
    await pass(60_000);
    const startedAt = Date.now();
    controller.abort('enough');
    expect((await run).error).toBe('enough');
    expect(Date.now()).toBe(startedAt);
    expect(queue.running.map(({ fileId }) => fileId)).toEqual(
      fake.files.map(({ fileId }) => fileId),
    );
    const requests = fake.requests.length;
    await pass(1_200_000);
    expect(fake.requests).toHaveLength(requests);
    const files = await inTime(client.waitForFiles(queue.running.map(({ fileId }) => fileId)));
    expect(files.every(({ file }) => file)).toBe(true);
  });

  it('while a call is in flight loses no ids', async () => {
    const { fake, media } = fakeService();
    fake.fail(videoEndpoint, { slow: 5_000 });
    const controller = new AbortController();
    const queue = media().queue(videos(3), { signal: controller.signal });
    const run = ending(collect(queue));
    await pass(1_000);
    expect(fake.requests).toHaveLength(1);
    controller.abort('enough');
    expect((await run).error).toBe('enough');
    await pass(10_000);
    expect(queue.running.map(({ fileId }) => fileId)).toEqual(
      fake.files.map(({ fileId }) => fileId),
    );
    expect(queue.running).toHaveLength(1);
    expect(fake.requests).toHaveLength(1);
  });

  it('before a call is sent cancels it', async () => {
    const { fake, media } = fakeService();
    const client = media();
    for (let call = 0; call < 10; call++) {
      await inTime(client.generate.audio(speech()));
    }
    const controller = new AbortController();
    const run = ending(collect(client.queue(videos(3), { signal: controller.signal })));
    await pass(60_000);
    controller.abort('enough');
    expect((await run).error).toBe('enough');
    await pass(1_200_000);
    expect(calls(fake)).toBe(0);
  });

  it('can be a `break`: `running` still lists the jobs', async () => {
    const { fake, media } = fakeService();
    const queue = media().queue(videos(5));
    const first = async () => {
      for await (const { job } of queue) {
        return job!.fileId;
      }
      return '';
    };
    const fileId = await inTime(first());
    const left = queue.running.map((job) => job.fileId);
    expect([fileId, ...left].sort()).toEqual(fake.files.map((file) => file.fileId));
    const looks = fake.requests.length;
    await pass(600_000);
    expect(fake.requests).toHaveLength(looks);
  });
});

describe('a named queue with a journal', () => {
  it('continues where an earlier run stopped, and generates nothing twice', async () => {
    const { fake, media } = fakeService();
    const journal = memoryJournal();
    const input = videos(45);
    const controller = new AbortController();
    const first = media({ journal }).queue(input, { name: 'cats', signal: controller.signal });
    const early: number[] = [];
    const run = (async () => {
      for await (const { index } of first) {
        early.push(index);
      }
    })();
    const stopped = ending(run);
    await pass(240_000);
    controller.abort();
    await stopped;
    expect(fake.files.length).toBeGreaterThanOrEqual(20);
    expect(fake.files.length).toBeLessThan(45);
    // A new process: another client, the same journal and input.
    const results = await inTime(collect(media({ journal }).queue(input, { name: 'cats' })));
    expect(results.filter(({ file }) => file).map(({ index }) => index)).toEqual(
      input.map((_, index) => index),
    );
    expect(fake.files).toHaveLength(45);
    expect((await media({ journal }).journal.pending()).jobs).toEqual([]);
  });

  it('lists the jobs that may have been submitted, and does not submit them again', async () => {
    const { fake, media } = fakeService();
    const journal = memoryJournal();
    fake.fail(videoEndpoint, { loseAnswer: true });
    await inTime(collect(media({ journal }).queue(videos(2), { name: 'cats' })));
    const results = await inTime(collect(media({ journal }).queue(videos(3), { name: 'cats' })));
    expect(results.map(({ error }) => (error as { code?: string } | undefined)?.code)).toEqual([
      'OUTCOME_UNKNOWN',
      undefined,
      undefined,
    ]);
    expect(fake.files).toHaveLength(3);
  });

  it('submits what is new beside any number of jobs that may have been handed in', async () => {
    const { fake, media } = fakeService();
    const journal = memoryJournal();
    fake.fail(videoEndpoint, { loseAnswer: true, times: 2 });
    const { error } = await inTime(
      ending(collect(media({ journal }).queue(videos(2), { name: 'cats' }))),
    );
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    const results = await inTime(collect(media({ journal }).queue(videos(5), { name: 'cats' })));
    expect(results.filter(({ file }) => file).map(({ index }) => index)).toEqual([2, 3, 4]);
    expect(fake.files).toHaveLength(5);
  });

  it('checks the jobs of the earlier run at once', async () => {
    const { fake, media } = fakeService({ durations: () => '30s' });
    const journal = memoryJournal();
    const client = media({ journal });
    await inTime(collect(client.queue(videos(2), { name: 'cats' })));
    const startedAt = Date.now();
    await inTime(collect(client.queue(videos(2), { name: 'cats' })));
    expect(Date.now() - startedAt).toBeLessThan(1_000);
    expect(fake.requests.at(-1)).toMatchObject({ endpoint: statusEndpoint });
    expect(fake.files).toHaveLength(2);
  });

  it('submits new jobs at once, while it checks the saved files of the earlier run', async () => {
    const { fake, media } = fakeService({ durations: () => '30s' });
    const journal = memoryJournal();
    const input = videos(21);
    await inTime(collect(media({ journal }).queue(input.slice(0, 20), { name: 'cats' })));
    fake.fail(statusEndpoint, { slow: 60_000, times: 20 });
    const startedAt = Date.now();
    const results = await inTime(collect(media({ journal }).queue(input, { name: 'cats' })));
    expect(results.filter(({ file }) => file)).toHaveLength(21);
    const last = fake.requests.filter(({ endpoint }) => endpoint === videoEndpoint).at(-1);
    expect(last!.at - startedAt).toBeLessThan(30_000);
    expect(fake.files).toHaveLength(21);
  });

  it('distinguishes two queues, and two equal jobs', async () => {
    const { fake, media } = fakeService();
    const client = media({ journal: memoryJournal() });
    const twins = [video(), video()];
    expect(await inTime(collect(client.queue(twins, { name: 'a' })))).toHaveLength(2);
    expect(await inTime(collect(client.queue(twins, { name: 'b' })))).toHaveLength(2);
    expect(fake.files).toHaveLength(4);
  });

  it('needs a journal', async () => {
    const { error } = await inTime(ending(collect(fakeService().media().queue([], { name: 'a' }))));
    expect(error).toMatchObject({ name: 'ConfigurationError', code: 'JOURNAL_MISSING' });
  });
});
