import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MediaClient } from 'postreel';
import { startFakeServer } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { arrivals, serve } from '../../support/fake-server.js';
import { settled } from '../../support/settled.js';
import { gaps, speech, statusEndpoint, video } from '../../support/media/fake-time.js';

// The rules of waiting run on a fake clock elsewhere; here are those that a socket can break.

/** A finished-soon audio on a real server. */
async function oneAudio(durationMs: number) {
  const { fakeMedia: fake, media } = await serve({
    media: { durations: () => durationMs, queueTime: 0 },
  });
  const client = media({ timeout: 300 });
  return { fake, client, job: await client.generate.audio(speech()) };
}

describe('a wait over real sockets', () => {
  it.each([
    ['a connection that is dropped', { drop: true }],
    ['an answer that is lost', { loseAnswer: true }],
    ['half an answer', { truncate: true }],
    ['an answer that stalls', { stall: true }],
    ['no answer in time', { hang: true }],
    ['500', { status: 500 }],
    ['503 with Retry-After', { status: 503, retryAfter: 1 }],
    ['a page of a gateway', { html: true }],
  ])('continues after %s', async (_, fault) => {
    const { fake, job } = await oneAudio(150);
    fake.fail(statusEndpoint, { ...fault, times: 2 });
    const file = await job.waitForFile({ interval: 20 });
    expect(file.fileId).toBe(job.fileId);
    expect(arrivals(fake.requests, statusEndpoint)).toBeGreaterThanOrEqual(3);
  });

  it('continues while the service is not reachable', async () => {
    const away = await startFakeServer();
    const port = Number(new URL(away.url).port);
    await away.close();
    const media = new MediaClient({
      apiKey: away.media.apiKey,
      baseUrl: away.mediaUrl,
      rateLimit: { group: 'away' },
    });
    const wait = settled(() => media.waitForFile('file_000001', { interval: 100 }));
    // Nobody listens at first: the connection is refused.
    await new Promise((resolve) => setTimeout(resolve, 250));
    const { fakeMedia: fake } = await serve({ port, media: { durations: () => 0 } });
    const own = new MediaClient({ apiKey: fake.apiKey, baseUrl: away.mediaUrl });
    await own.generate.audio(speech());
    const { value, error } = await wait;
    // A look between the two may find the file unknown, which ends a wait.
    expect(value?.fileId ?? (error as { status?: number }).status).toSatisfy(
      (end: unknown) => end === 'file_000001' || end === 404,
    );
    expect(arrivals(fake.requests, statusEndpoint)).toBeGreaterThanOrEqual(1);
  });

  it.each([
    [401, 1],
    [403, 1],
    [404, 2],
  ])('ends with %i after %i check(s)', async (status, checks) => {
    const { fake, client } = await oneAudio(60_000);
    fake.fail(statusEndpoint, { status, times: 9 });
    const { error } = await settled(() => client.waitForFile('file_of_old', { interval: 20 }));
    expect(error).toMatchObject({ status });
    expect(arrivals(fake.requests, statusEndpoint)).toBe(checks);
  });

  it('keeps the interval that the caller set', async () => {
    const { fake, job } = await oneAudio(1_000);
    await job.waitForFile({ interval: 200 });
    const between = gaps(fake.requests);
    expect(between.length).toBeGreaterThanOrEqual(3);
    for (const gap of between) {
      expect(gap).toBeGreaterThanOrEqual(195);
      expect(gap).toBeLessThan(3_000); // the usual pace of an audio
    }
  });

  it('shares its checks with another wait for the same file', async () => {
    const { fake, client, job } = await oneAudio(900);
    const options = { interval: 200 };
    const files = await Promise.all([job, job, job].map((own) => own.waitForFile(options)));
    expect(files.map(({ fileId }) => fileId)).toEqual(Array(3).fill(job.fileId));
    const looks = arrivals(fake.requests, statusEndpoint);
    expect(looks).toBeLessThanOrEqual(6);
    expect(client.rateLimit.state()!.used).toBe(1);
  });

  it('ends in time when the service never responds', async () => {
    const { fake, job } = await oneAudio(60_000);
    fake.fail(statusEndpoint, { hang: true, times: 99 });
    const { error, tookMs } = await settled(() => job.waitForFile({ timeout: 500, interval: 20 }));
    expect(error).toMatchObject({ name: 'WaitTimeoutError', fileId: job.fileId });
    expect(tookMs).toBeGreaterThanOrEqual(495);
    expect(tookMs).toBeLessThan(5_000); // the machine may be busy
  });
});

describe('an abort of a wait over real sockets', () => {
  it('closes the connection of its check, unless another wait needs the response', async () => {
    const open = new Set<object>();
    let looks = 0;
    const { url, close } = await listen((request) => {
      looks++;
      open.add(request);
      request.socket.once('close', () => open.delete(request)); // and never an answer
    });
    try {
      const media = new MediaClient({ apiKey: 'key', baseUrl: url });
      const [one, two] = [new AbortController(), new AbortController()];
      const waits = [one, two].map(({ signal }) =>
        settled(() => media.waitForFile('file_1', { signal })),
      );
      await until(() => open.size === 1);
      one.abort('enough');
      expect(await waits[0]).toMatchObject({ error: 'enough' });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(open.size).toBe(1);
      two.abort('enough too');
      expect(await waits[1]).toMatchObject({ error: 'enough too' });
      await until(() => open.size === 0);
      expect(looks).toBe(1);
    } finally {
      await close();
    }
  });
});

it('thirty waits make their checks one by one, and all of them end', async () => {
  const { fakeMedia: fake, media } = await serve({
    media: { durations: () => 500, queueTime: 0, pendingLimit: 100 },
  });
  const client = media({ rateLimit: { pending: 100 } });
  const payload = Array.from({ length: 30 }, () => video());
  const jobs = await client.generate.video({ payload });
  const ids = jobs.map(({ fileId }) => fileId);
  const files = await client.waitForFiles(ids, { settle: 'first-error', interval: 1_000 });
  expect(files.map(({ fileId }) => fileId)).toEqual(ids);
  // Sent 100 ms apart, however they arrive on a busy machine.
  const took = gaps(fake.requests).reduce((sum, gap) => sum + gap, 0);
  expect(took).toBeGreaterThan(29 * 90);
});

async function listen(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // as: it listens on a port
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
