import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ApiError, type SendRequest, type VideoJob } from 'postreel';
import { describe, expect, it, vi } from 'vitest';
import { arrivals, serve } from '../support/fake-server.js';
import { settled } from '../support/settled.js';

const mail: SendRequest = {
  from: 'shop@example.com',
  to: 'ann@example.com',
  subject: 'Hi',
  body: '<p>Hi</p>',
};
const video: VideoJob = {
  workflowType: 'idea',
  workflowFormat: 'video',
  prompt: 'Cats',
  voiceId: 'voice_1',
};
const promptMs = 5_000; // the limit for "at once" on a busy machine; what must not be waited for takes 30 s

describe('where other SDKs fail, Postreel', () => {
  it('1: rejects at once with an invalid key, inside the try, without an unhandled rejection', async () => {
    const { server } = await serve();
    const script = `
      import { MediaClient } from 'postreel';
      const media = new MediaClient({ apiKey: 'wrong', baseUrl: '${server.mediaUrl}' });
      try {
        const [job] = await media.generate.video({ payload: [${JSON.stringify(video)}] });
        await job.waitForFile();
      } catch (error) { console.log(error.name); }`;
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '-e',
      script,
    ]);
    expect(stdout).toBe('AuthenticationError\n');
  });

  it('2: rejects at once if it is aborted during a wait', async () => {
    const { media } = await serve();
    const [job] = await media().generate.video({ payload: [video] });
    const controller = new AbortController();
    const wait = settled(() => job!.waitForFile({ signal: controller.signal }));
    setTimeout(() => controller.abort('enough'), 50);
    const { error, tookMs } = await wait;
    expect(error).toBe('enough');
    expect(tookMs).toBeLessThan(50 + promptMs);
  });

  it('3: keeps waiting through an unknown status', async () => {
    const { media, fakeMedia } = await serve({ media: { durations: () => '300ms', queueTime: 0 } });
    fakeMedia.outcome({ status: 'success', unknownStatus: 'rendering' });
    const [job] = await media().generate.video({ payload: [video] });
    const statuses: string[] = [];
    await job!.waitForFile({ interval: 50, onUpdate: ({ status }) => statuses.push(status) });
    expect(statuses).toContain('rendering');
    expect(statuses.at(-1)).toBe('success');
  });

  it('4: keeps its interval on an unknown status', async () => {
    const { media, fakeMedia } = await serve({ media: { durations: () => '1h', queueTime: 0 } });
    fakeMedia.outcome({ status: 'success', unknownStatus: 'rendering' });
    const [job] = await media().generate.video({ payload: [video] });
    await settled(() => job!.waitForFile({ interval: 100, timeout: 1000 }));
    expect(arrivals(fakeMedia.requests, 'GET /v1/generate/status')).toBeLessThanOrEqual(11);
  });

  it('5: waits as long as Retry-After says', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts', { status: 429, retryAfter: 1 });
    const { tookMs, value } = await settled(() => messaging().contacts.list());
    expect(value?.items).toEqual([]);
    expect(tookMs).toBeGreaterThanOrEqual(1000);
    expect(arrivals(fake.requests, 'GET /contacts')).toBe(2);
  });

  it.each(['drop', 'loseAnswer'] as const)(
    '6, 8, 9: sends a paid job once if %s breaks the connection',
    async (kind) => {
      const { media, fakeMedia } = await serve();
      fakeMedia.fail('POST /v1/generate/video', { [kind]: true, times: 9 });
      await expect(media().generate.video({ payload: [video] })).rejects.toMatchObject({
        name: 'ConnectionError',
        outcome: 'unknown',
      });
      expect(arrivals(fakeMedia.requests, 'POST /v1/generate/video')).toBe(1);
    },
  );

  it('7: sends nothing if the signal was aborted before the call, and rejects with its reason', async () => {
    const { messaging, media, fake, fakeMedia } = await serve();
    const reason = { because: 'the user left' };
    const signal = AbortSignal.abort(reason);
    await expect(messaging().send(mail, { signal })).rejects.toBe(reason);
    await expect(media().generate.video({ payload: [video] }, { signal })).rejects.toBe(reason);
    expect([...fake.requests, ...fakeMedia.requests]).toEqual([]);
  });

  it('10: repeats any call that was rejected with 429', async () => {
    const { messaging, fake } = await serve();
    fake.fail('POST /v1/send', { status: 429, retryAfter: 0 });
    await messaging().send(mail);
    expect(fake.outbox).toHaveLength(1);
  });

  it('11: ends a call whose response stalls when its timeout is over', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts', { stall: true });
    const { error, tookMs } = await settled(() =>
      messaging({ retries: 0, timeout: 300 }).contacts.list(),
    );
    expect(error).toMatchObject({ name: 'TimeoutError' });
    expect(tookMs).toBeLessThan(300 + promptMs);
  });

  it('12: rejects at once if it is aborted while it waits for Retry-After', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts', { status: 429, retryAfter: 30 });
    const controller = new AbortController();
    const call = settled(() => messaging().contacts.list(undefined, { signal: controller.signal }));
    setTimeout(() => controller.abort('enough'), 200);
    const { error, tookMs } = await call;
    expect(error).toBe('enough');
    expect(tookMs).toBeLessThan(200 + promptMs);
  });

  it('13: rejects at once with retryAfterMs if the wait cannot fit the deadline', async () => {
    const { messaging, fake } = await serve();
    fake.fail('POST /v1/send', { status: 429, retryAfter: 300 });
    const { error, tookMs } = await settled(() => messaging().send(mail, { deadline: 5_000 }));
    expect(error).toMatchObject({
      name: 'RateLimitError',
      retryAfterMs: 300_000,
      outcome: 'rejected',
    });
    expect(tookMs).toBeLessThan(promptMs);
  });

  it('14: reads status, code, request id and Retry-After from the documented error', async () => {
    const { messaging, fake } = await serve({
      messaging: { rateLimit: { limit: 1, headers: 'retry-after' } },
    });
    const client = messaging({ retries: 0, rateLimit: false });
    await client.contacts.list();
    const { error } = await settled(() => client.contacts.list());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 429, requestId: expect.stringMatching(/./) as string });
    expect((error as ApiError).retryAfterMs).toBeGreaterThan(0);
    expect((error as ApiError).message).toContain('429');
    expect(fake.requests).toHaveLength(2);
  });

  it('15: rejects with its cause and writes nothing to the console', async () => {
    const { messaging, server } = await serve();
    const spies = (['log', 'info', 'warn', 'error'] as const).map((name) =>
      vi.spyOn(console, name),
    );
    await server.close();
    const { error } = await settled(() => messaging({ retries: 0 }).send(mail));
    expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'not-sent' });
    expect((error as Error).cause).toBeInstanceOf(Error);
    for (const spy of spies) {
      expect(spy).not.toHaveBeenCalled();
    }
  });

  it('16: ends a wait on an unknown status after a limit', async () => {
    const { media, fakeMedia } = await serve({ media: { durations: () => '1h', queueTime: 0 } });
    fakeMedia.outcome({ status: 'success', unknownStatus: 'rendering' });
    const [job] = await media().generate.video({ payload: [video] });
    await expect(job!.waitForFile({ interval: 50, timeout: 300 })).rejects.toMatchObject({
      name: 'WaitTimeoutError',
      lastStatus: 'rendering',
    });
  });
});
