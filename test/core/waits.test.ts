import {
  JobFailedError,
  type WaitError,
  WaitTimeoutError,
  type ImportJob,
  type MessagingClient,
} from 'postreel';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, mediaOver, messagingOver } from '../support/clients.js';
import { step, type Step } from '../support/script.js';
import { loadSchemas } from '../support/media/fake-time.js';
import { settledInTime } from '../support/settled.js';

type WaitOptions = NonNullable<Parameters<MessagingClient['contacts']['waitForImport']>[1]>;

const running = { status: 'running' };
const done = { status: 'done' };
const is =
  (job: object): Step =>
  () =>
    Response.json(job);

beforeAll(loadSchemas);
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A service that responds to the status checks with the items of a list, and then repeats the last one. */
function checked(answers: readonly Step[]) {
  const left = [...answers];
  const { fetch, requests } = answering(() => (left.length > 1 ? left.shift() : left[0])?.());
  const client = messagingOver(fetch, { retries: 0 });
  const wait = (options: WaitOptions = {}) =>
    settledInTime(() => client.contacts.waitForImport('job_1', { interval: 1_000, ...options }));
  return { client, requests, wait };
}

const waitFor = (answers: readonly object[], options?: WaitOptions) =>
  checked(answers.map(is)).wait(options);

describe('the status of a job', () => {
  it.each(['completed', 'complete', 'done', 'finished', 'success', 'succeeded', ' COMPLETED'])(
    '%s means that it is done',
    async (status) => {
      const job = { id: 'job_1', status, imported: 3 };
      expect(await waitFor([running, job])).toMatchObject({ value: job, tookMs: 1_000 });
    },
  );

  it.each(['failed', 'failure', 'error', 'canceled', 'cancelled', 'Failed'])(
    '%s means that it failed',
    async (status) => {
      const job = { id: 'job_1', status, reason: 'no header' };
      const { error } = await waitFor([job]);
      expect(error).toBeInstanceOf(JobFailedError);
      expect(error).toMatchObject({ code: 'JOB_FAILED', jobId: 'job_1', job });
      expect((error as Error).message).toBe(`Job job_1 ended with the status "${status}".`);
    },
  );

  it.each(['waiting', 'active', 'delayed', 'queued', 'half-done', '', 7, null, undefined])(
    '%o means that it goes on',
    async (status) => {
      expect(await waitFor([{ status }, done])).toMatchObject({ value: done });
    },
  );

  it('may be in the field `state`', async () => {
    const job = { state: 'completed' };
    expect(await waitFor([{ state: 'active' }, job])).toMatchObject({ value: job });
  });
});

describe('`isDone`', () => {
  it('decides whether the job is done, whatever its status is; a failed job still rejects', async () => {
    const isDone = ({ status }: ImportJob) => status === 'archived';
    const end = await waitFor([{ status: 'completed' }, { status: 'archived' }], { isDone });
    expect(end.value).toEqual({ status: 'archived' });
    const { error } = await waitFor([{ status: 'failed' }], { isDone });
    expect(error).toBeInstanceOf(JobFailedError);
  });

  it('that throws ends the wait with that error', async () => {
    const bug = new Error('a bug');
    const isDone = () => {
      throw bug;
    };
    expect((await waitFor([running], { isDone })).error).toBe(bug);
  });
});

describe('each status check', () => {
  it('is reported to `onUpdate` and to the listeners of the client', async () => {
    const { client, wait } = checked([is({ ...running, progress: 50 }), is({ status: 'failed' })]);
    const [updates, events]: unknown[][] = [[], []];
    client.on('job:update', (event) => events?.push(event));
    await wait({ onUpdate: (update) => updates?.push(update) });
    const first = { status: 'running', progress: 50, attempt: 1, nextPollInMs: 1_000 };
    const last = { status: 'failed', progress: undefined, attempt: 2, nextPollInMs: 0 };
    expect(updates).toMatchObject([first, last]);
    expect(events).toMatchObject([
      { jobId: 'job_1', ...first },
      { jobId: 'job_1', ...last },
    ]);
  });

  it('is followed by the next one even if `onUpdate` throws', async () => {
    const onUpdate = vi.fn(() => {
      throw new Error('a bug');
    });
    expect(await waitFor([running, done], { onUpdate })).toMatchObject({ value: done });
    expect(onUpdate).toHaveBeenCalledTimes(2);
  });

  it('is made every two seconds by default, and a tenth of a second after any other check', async () => {
    const { client, requests } = checked([is(running), is(running), is(done)]);
    const { tookMs } = await settledInTime(() => client.contacts.waitForImport('job_1'));
    expect(tookMs).toBe(4_000);
    const many = Array.from({ length: 4 }, (_, at) => client.contacts.waitForBulkJob(`job_${at}`));
    expect(await settledInTime(() => Promise.all(many))).toMatchObject({ tookMs: 400 }); // one was made just now
    expect(requests).toHaveLength(7);
    expect(requests.at(-1)?.url).toBe('https://messaging.test/contacts/bulk/job_3');
  });
});

describe('a status check that fails', () => {
  it.each<[string, Step]>([
    ['a 408', step.status(408)],
    ['a 429', step.status(429, { 'retry-after': '1' })],
    ['a 500', step.status(500)],
    ['a 503', step.status(503)],
    ['no connection', step.refused],
    ['a lost connection', step.lost],
    ['the page of a captive portal', () => new Response('<html>Log in</html>')],
  ])('with %s, even many times, is repeated', async (_, fault) => {
    const { wait } = checked([fault, fault, fault, is(done)]);
    expect(await wait()).toMatchObject({ value: done });
  });

  it('is repeated after longer and longer pauses, up to a minute', async () => {
    const { wait, requests } = checked([...Array.from({ length: 9 }, () => step.lost), is(done)]);
    const { value, tookMs } = await wait();
    expect(value).toEqual(done);
    expect(tookMs).toBe((1 + 2 + 4 + 8 + 16 + 32 + 60 + 60 + 60) * 1_000);
    expect(requests).toHaveLength(10);
  });

  it.each([401, 403])(
    'with %i ends the wait at once, because it concerns the key',
    async (status) => {
      const { wait, requests } = checked([step.status(status)]);
      const { error, tookMs } = await wait();
      expect(error).toMatchObject({ status });
      expect([requests.length, tookMs]).toEqual([1, 0]);
    },
  );

  const sayingNo: [string, Step][] = [
    ['400', step.status(400)],
    ['404', step.status(404)],
    ['409', step.status(409)],
    ['422', step.status(422)],
    ['`success: false` and 200', is({ success: false, error: 'no' })],
  ];

  it.each(sayingNo)('with %s once is repeated', async (_, no) => {
    const { wait } = checked([no, is(running), no, is(running), no, is(done)]);
    expect(await wait()).toMatchObject({ value: done });
  });

  it.each(sayingNo)('with %s twice in a row ends the wait', async (_, no) => {
    const { wait, requests } = checked([is(running), no]);
    const { error } = await wait();
    expect(error).toMatchObject({ outcome: 'rejected' });
    expect(requests).toHaveLength(3);
  });
});

describe('a wait that takes too long', () => {
  it('rejects with its facts, and can be resumed with its options', async () => {
    const { client, wait } = checked([is(running)]);
    const onUpdate = vi.fn();
    const { error, tookMs } = await wait({ timeout: 2_500, onUpdate });
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(error).toMatchObject({ code: 'WAIT_TIMEOUT', fileId: 'job_1', lastStatus: 'running' });
    expect(error).toMatchObject({ elapsedMs: 2_500, polls: 3, outcome: 'unknown' });
    expect(tookMs).toBe(2_500);
    const ended = error as WaitError;
    expect(ended.message).toContain('Call `resume({ timeout })`, in milliseconds, to keep waiting');
    onUpdate.mockClear();
    const again = await settledInTime(() => ended.resume({ timeout: 5_000 }));
    expect(again.error).toBeInstanceOf(WaitTimeoutError);
    expect(onUpdate).toHaveBeenCalledTimes(5);
    expect(client.rateLimit.state()).toBeUndefined();
  });

  it('ends on time even if a check does not', async () => {
    const { wait } = checked([step.silence]);
    const { error, tookMs } = await wait({ timeout: 600 });
    expect(error).toMatchObject({ code: 'WAIT_TIMEOUT', lastStatus: undefined, polls: 1 });
    expect(tookMs).toBe(600);
  });
});

describe('an abort of a wait', () => {
  it.each<[string, Step]>([
    ['between two checks', is(running)],
    ['while it checks', step.silence],
  ])('ends it %s', async (_, answer) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort('enough'), 300);
    const { wait } = checked([answer]);
    const { error, tookMs } = await wait({ signal: controller.signal, interval: 60_000 });
    expect([error, tookMs]).toEqual(['enough', 300]);
  });

  it('before the wait prevents the first check', async () => {
    const { wait, requests } = checked([is(done)]);
    expect((await wait({ signal: AbortSignal.abort('enough') })).error).toBe('enough');
    expect(requests).toEqual([]);
  });

  it('while a check waits for its turn removes the check', async () => {
    const { client, requests } = checked([is(done)]);
    const controller = new AbortController();
    const { signal } = controller;
    const waits = Array.from({ length: 10 }, () =>
      client.contacts.waitForImport('job_1', { signal }),
    );
    const ends = Promise.allSettled(waits);
    controller.abort('enough');
    expect((await ends).every((end) => end.status === 'rejected')).toBe(true);
    await vi.runAllTimersAsync();
    expect(requests.length).toBeLessThanOrEqual(1);
  });
});

it('waits for campaigns, domains and executions follow the same rules', async () => {
  const answers = [{ status: 'SENDING' }, { status: 'SENT' }];
  const { client } = checked([step.status(404), ...answers.map(is)]);
  const sent = await settledInTime(() => client.campaigns.waitUntilSent('cam_1'));
  expect(sent).toMatchObject({ value: { status: 'SENT' } });
  const verified = checked([step.status(503), is({ verified: false }), is({ verified: true })]);
  const domain = await settledInTime(() => verified.client.domains.waitUntilVerified('dom_1'));
  expect(domain).toMatchObject({ value: { verified: true } });
  const refused = checked([step.status(401)]);
  const { executions } = refused.client.workflows;
  const { error } = await settledInTime(() => executions.wait('wf_1', 'run_1'));
  expect(error).toMatchObject({ status: 401 });
  expect(refused.requests).toHaveLength(1);
});

it('a wait for a file follows the same rules', async () => {
  for (const [answers, checks] of [
    [[401], 1],
    [[404, 404], 2],
    [[404, 503, 404, 200], 4],
  ] as const) {
    const left = [...answers];
    const file = { fileId: 'file_1', status: 'success', download: 'https://cdn.test/f.mp4' };
    const { fetch, requests } = answering(() =>
      Response.json(file, { status: left.shift() ?? 200 }),
    );
    const media = mediaOver(fetch, { retries: 0 });
    const { error } = await settledInTime(() => media.waitForFile('file_1'));
    expect(error === undefined).toBe(answers.at(-1) === 200);
    expect(requests).toHaveLength(checks);
  }
});

it('names the error of its last check when it times out', async () => {
  const failing = () => Response.json({ error: 'The database is down.' }, { status: 500 });
  const { wait } = checked([is(running), failing]);
  const { error } = await wait({ timeout: 5_000 });
  expect(error).toMatchObject({ name: 'WaitTimeoutError', cause: { status: 500 } });
  expect((error as Error).message).toContain('(last status "running"; the last check failed: GET ');
  expect((error as Error).message).toContain('The database is down.');
});
