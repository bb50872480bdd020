import type { GenerationFailedError } from 'postreel';
import { describe, expect, it } from 'vitest';
import {
  ending,
  fakeService,
  gaps,
  inTime,
  pass,
  useFakeTime,
  video,
  statusEndpoint,
  speech,
} from '../../support/media/fake-time.js';

useFakeTime();

async function oneVideo(options: Parameters<typeof fakeService>[0] = {}) {
  const service = fakeService(options);
  const client = service.media();
  const [job] = await inTime(client.generate.video({ payload: [video()] }));
  return { ...service, client, job: job! };
}

describe('a status check that fails', () => {
  it.each([
    ['a lost connection', { drop: true }],
    ['a lost answer', { loseAnswer: true }],
    ['half an answer', { truncate: true }],
    ['an answer that stalls', { stall: true }],
    ['no answer', { hang: true }],
    ['500', { status: 500 }],
    ['502 from a gateway', { html: true }],
    ['503 with Retry-After', { status: 503, retryAfter: 7 }],
    ['408', { status: 408 }],
    ['429', { status: 429, retryAfter: 1 }],
    ['429 without Retry-After', { status: 429 }],
    ['an answer that is not JSON', { malformed: true }],
    ['a page of a hotel', { status: 200, body: '<html>Welcome</html>' }],
  ])('with a temporary error does not end the wait: %s', async (_, fault) => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { ...fault, times: 3 });
    const file = await inTime(job.waitForFile({ timeout: 3_600_000 }));
    expect(file.fileId).toBe(job.fileId);
    expect(Math.min(...gaps(fake.requests))).toBeGreaterThanOrEqual(9_000);
  });

  it('repeatedly is repeated at growing intervals', async () => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { status: 500, times: 5 });
    await inTime(job.waitForFile());
    expect(gaps(fake.requests).slice(0, 5)).toEqual([10_000, 20_000, 40_000, 60_000, 60_000]);
  });

  it('is not repeated before the time of Retry-After', async () => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { status: 503, retryAfter: 45 });
    await inTime(job.waitForFile());
    expect(gaps(fake.requests)[0]).toBeGreaterThanOrEqual(45_000);
  });

  it('is repeated at the interval that the caller set', async () => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { drop: true });
    await inTime(job.waitForFile({ interval: 2_000 }));
    expect(gaps(fake.requests)[0]).toBe(2_000);
  });

  it.each([
    ['the service answers 500', { status: 500 }, { status: 500 }, 'failed (500)'],
    [
      'there is no connection',
      { drop: true },
      { code: 'CONNECTION_LOST' },
      'GET /v1/generate/status',
    ],
  ])('is in the error of the timeout: %s', async (_, fault, cause, text) => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { ...fault, times: 100 });
    const { error } = await inTime(ending(job.waitForFile({ timeout: 45_000 })));
    expect(error).toMatchObject({ name: 'WaitTimeoutError', lastStatus: undefined, cause });
    expect((error as Error).message).toContain(`(last status "none"; the last check failed: `);
    expect((error as Error).message).toContain(text);
  });

  it('is not in the error of the timeout once another check has succeeded', async () => {
    const { fake, job } = await oneVideo({ durations: () => '5h' });
    fake.fail(statusEndpoint, { status: 500 });
    const { error } = await inTime(ending(job.waitForFile({ timeout: 45_000 })));
    expect((error as Error).message).toContain('(last status "processing").');
    expect((error as Error).cause).toBeUndefined();
  });

  it('counts as a check', async () => {
    const { fake, job } = await oneVideo({ durations: () => '5h' });
    fake.fail(statusEndpoint, { drop: true, times: 2 });
    const { error } = await inTime(ending(job.waitForFile({ timeout: 45_000 })));
    expect(error).toMatchObject({ name: 'WaitTimeoutError', polls: 3, lastStatus: 'processing' });
  });

  it.each([
    [401, 'AuthenticationError'],
    [403, 'PermissionError'],
  ])('with %i ends the wait at once, because it concerns the key', async (status, name) => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { status, times: 9 });
    const { error } = await inTime(ending(job.waitForFile()));
    expect(error).toMatchObject({ name, status });
    expect(fake.requests).toHaveLength(2);
  });

  it('with 400 ends the wait when it is repeated', async () => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { status: 400, times: 9 });
    const { error } = await inTime(ending(job.waitForFile()));
    expect(error).toMatchObject({ name: 'BadRequestError', status: 400 });
    expect(fake.requests).toHaveLength(3);
    expect(gaps(fake.requests)).toEqual([1_000]);
  });

  it('with 404 does not end the wait for a file that was seen before', async () => {
    const { fake, job } = await oneVideo({ durations: () => '3m' });
    await inTime(ending(job.waitForFile({ timeout: 15_000 })));
    fake.fail(statusEndpoint, { status: 400, after: 1, times: 1 });
    const file = await inTime(job.waitForFile());
    expect(file.fileId).toBe(job.fileId);
  });

  it('with 404 ends the wait for a file that was seen before when it is repeated', async () => {
    const { fake, job } = await oneVideo({ durations: () => '3m' });
    await inTime(ending(job.waitForFile({ timeout: 45_000 })));
    fake.fail(statusEndpoint, { status: 400, times: 99 });
    const { error } = await inTime(ending(job.waitForFile()));
    expect(error).toMatchObject({ name: 'BadRequestError' });
  });
});

describe('a file that the service does not know', () => {
  it('ends the wait for an old id at the second check', async () => {
    const { fake, media } = fakeService();
    const { error } = await inTime(ending(media().waitForFile('file_999999')));
    expect(error).toMatchObject({ name: 'NotFoundError', status: 404 });
    expect(fake.requests).toHaveLength(2);
  });

  it('may be too new to be known', async () => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { status: 404, times: 2 }); // after 10 s and after 20 s
    const file = await inTime(job.waitForFile());
    expect(file.fileId).toBe(job.fileId);
    expect(gaps(fake.requests).slice(0, 2)).toEqual([10_000, 10_000]);
  });

  it('is too new only for a limited time', async () => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { status: 404, times: 99 });
    const { error } = await inTime(ending(job.waitForFile()));
    expect(error).toMatchObject({ name: 'NotFoundError' });
    expect(fake.requests.length - 1).toBeLessThanOrEqual(4);
  });

  it('was deleted when it was known before', async () => {
    const { job } = await oneVideo({ keepFor: 0, durations: () => '35s' });
    await pass(60_000);
    const { error } = await inTime(ending(job.waitForFile()));
    expect(error).toMatchObject({ name: 'NotFoundError' });
  });
});

describe('a status outside of the document', () => {
  it('keeps the usual interval, and emits one `mismatch`', async () => {
    const { fake, client, job } = await (async () => {
      const service = fakeService({ durations: () => '2m', queueTime: 0 });
      service.fake.outcome({ unknownStatus: 'rendering' });
      const own = service.media();
      const [made] = await inTime(own.generate.video({ payload: [video()] }));
      return { ...service, client: own, job: made! };
    })();
    const mismatches: unknown[] = [];
    const statuses: string[] = [];
    client.on('mismatch', (event) => mismatches.push(event));
    await inTime(job.waitForFile({ onUpdate: ({ status }) => statuses.push(status) }));
    expect(statuses[0]).toBe('rendering');
    expect(statuses.at(-1)).toBe('success');
    expect(mismatches).toHaveLength(1);
    expect(mismatches[0]).toMatchObject({
      path: '/v1/generate/status',
      issues: [{ field: 'status', message: expect.stringContaining('"rendering"') as string }],
    });
    const between = gaps(fake.requests);
    between.forEach((gap, index) => expect(gap).toBeLessThanOrEqual(11_000 * 1.25 ** index));
    expect(Math.min(...between)).toBeGreaterThanOrEqual(9_000);
  });

  it.each([
    ['is missing', {}],
    ['is null', { status: null }],
    ['is a number', { status: 3 }],
    ['comes in nothing', ''],
    ['comes in a list', []],
    ['comes in a text', '"done"'],
  ])('that %s does not end the wait', async (_, body) => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { status: 200, body, times: 2 });
    const file = await inTime(job.waitForFile());
    expect(file.fileId).toBe(job.fileId);
  });

  it('under `state` is read, too', async () => {
    const { job } = await oneVideo({ statusField: 'state' });
    const updates: string[] = [];
    const file = await inTime(job.waitForFile({ onUpdate: ({ status }) => updates.push(status) }));
    expect(file.fileId).toBe(job.fileId);
    expect(updates.at(-1)).toBe('success');
  });

  it.each(['COMPLETED', 'Done', 'finished', 'SUCCEEDED'])(
    'with the undocumented word %s is a success',
    async (status) => {
      const { fake, job } = await oneVideo();
      fake.fail(statusEndpoint, { status: 200, body: statusOf(job.fileId, status) });
      const file = await inTime(job.waitForFile());
      expect(file.url).toBe('https://cdn.test/own-words.mp4');
    },
  );

  it.each([
    ['FAILED', 'GenerationFailedError'],
    ['failure', 'GenerationFailedError'],
    ['cancelled', 'GenerationCanceledError'],
  ])('with the undocumented word %s is a %s', async (status, name) => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { status: 200, body: statusOf(job.fileId, status) });
    const { error } = await inTime(ending(job.waitForFile()));
    expect(error).toMatchObject({ name, lastStatus: status });
  });

  it('that is always missing ends the wait in a timeout', async () => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { status: 200, body: {}, times: 10_000 });
    const { error } = await inTime(ending(job.waitForFile()));
    expect(error).toMatchObject({ name: 'WaitTimeoutError', lastStatus: undefined });
  });
});

describe('a finished file without a download URL', () => {
  it('gets one more check', async () => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { status: 200, body: { fileId: job.fileId, status: 'success' } });
    const file = await inTime(job.waitForFile());
    expect(file.url).toContain(job.fileId);
  });

  it('at two checks rejects with an error that names the file', async () => {
    const { fake, media } = fakeService();
    fake.outcome({ omitDownload: true });
    const job = await inTime(media().generate.audio(speech()));
    const seen: string[] = [];
    const { error } = await inTime(
      ending(job.waitForFile({ onUpdate: ({ status }) => seen.push(status) })),
    );
    expect(error).toMatchObject({
      name: 'UnexpectedResponseError',
      code: 'DOWNLOAD_MISSING',
      message: expect.stringContaining(job.fileId) as string,
    });
    expect(seen.slice(-2)).toEqual(['success', 'success']);
    expect(seen.filter((status) => status === 'success')).toHaveLength(2);
  });
});

describe('a job that fails', () => {
  it.each([
    ['error', 'GenerationFailedError', 'GENERATION_FAILED'],
    ['canceled', 'GenerationCanceledError', 'GENERATION_CANCELED'],
  ] as const)('with %s is a %s that knows about the wait', async (status, name, code) => {
    const { fake, media } = fakeService();
    fake.outcome({ status, after: '25s' });
    const client = media();
    const [job] = await inTime(client.generate.video({ payload: [video()] }));
    const seen: string[] = [];
    const { error } = await inTime(
      ending(
        job!.waitForFile({ interval: 10_000, onUpdate: (update) => seen.push(update.status) }),
      ),
    );
    expect(error).toMatchObject({
      name,
      code,
      fileId: job!.fileId,
      lastStatus: status,
      elapsedMs: 30_000,
      polls: 3,
    });
    expect(seen).toEqual(['processing', 'processing', status]);
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      name,
      fileId: job!.fileId,
      polls: 3,
    });
    const again = await inTime(ending((error as GenerationFailedError).resume()));
    expect(again.error).toMatchObject({ name, polls: 1 });
  });
});

describe('an abort', () => {
  it('before the wait prevents every request', async () => {
    const { fake, job } = await oneVideo();
    const reason = { because: 'the user left' };
    const { error } = await ending(job.waitForFile({ signal: AbortSignal.abort(reason) }));
    expect(error).toBe(reason);
    expect(fake.requests).toHaveLength(1);
  });

  it('between two checks ends the wait at once, and leaves no timer', async () => {
    const { job } = await oneVideo();
    const controller = new AbortController();
    const wait = ending(job.waitForFile({ signal: controller.signal }));
    await pass(12_000);
    const startedAt = Date.now();
    controller.abort('enough');
    expect((await wait).error).toBe('enough');
    expect(Date.now()).toBe(startedAt);
  });

  it('during a check aborts the check, too', async () => {
    const { fake, job } = await oneVideo();
    fake.fail(statusEndpoint, { hang: true });
    const controller = new AbortController();
    const wait = ending(job.waitForFile({ signal: controller.signal }));
    await pass(12_000);
    expect(fake.requests).toHaveLength(2);
    controller.abort('enough');
    expect((await wait).error).toBe('enough');
    await pass(120_000);
    expect(fake.requests).toHaveLength(2);
  });
});

function statusOf(fileId: string, status: string) {
  const download = 'https://cdn.test/own-words.mp4';
  return { success: true, data: { fileId, status, download } };
}
