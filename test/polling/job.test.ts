import { JobFailedError, WaitError, WaitTimeoutError, type ImportJob } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';
import { serve } from '../support/fake-server.js';
import { settledInTime } from '../support/settled.js';

const quick = { interval: 1 };

describe('the status of a job', () => {
  it.each(['completed', 'complete', 'done', 'finished', 'success', 'succeeded', 'COMPLETED'])(
    '%s means that it is done',
    async (status) => {
      const job = { id: 'job_1', status, imported: 3 };
      await expect(waitFor([{ status: 'running' }, job])).resolves.toEqual(job);
    },
  );

  it.each(['failed', 'failure', 'error', 'canceled', 'cancelled', 'Failed'])(
    '%s means that it failed',
    async (status) => {
      const job = { id: 'job_1', status, reason: 'no header' };
      const error: unknown = await waitFor([job]).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(JobFailedError);
      expect(error).toMatchObject({ code: 'JOB_FAILED', jobId: 'job_1', job });
      expect((error as Error).message).toBe(`Job job_1 ended with the status "${status}".`);
    },
  );

  it.each(['queued', 'processing', 'rendering', 'half-done', '', 7, null])(
    '%o means that it goes on',
    async (status) => {
      await expect(waitFor([{ status }, { status: 'done' }])).resolves.toEqual({ status: 'done' });
    },
  );

  it('may be called state', async () => {
    const job = { state: 'completed' };
    await expect(waitFor([{ state: 'running' }, job])).resolves.toEqual(job);
  });

  it('may be missing', async () => {
    await expect(waitFor([{}, { status: 'done' }])).resolves.toEqual({ status: 'done' });
  });
});

describe('isDone', () => {
  it('decides, whatever the status says', async () => {
    const isDone = ({ status }: ImportJob) => status === 'archived';
    const answers = [{ status: 'completed' }, { status: 'archived' }];
    await expect(waitFor(answers, { isDone })).resolves.toEqual({ status: 'archived' });
  });

  it('leaves failures to us', async () => {
    const wait = waitFor([{ status: 'failed' }], { isDone: () => false });
    await expect(wait).rejects.toBeInstanceOf(JobFailedError);
  });

  it('that throws ends the wait with what it threw', async () => {
    const error = new Error('a bug');
    const isDone = () => {
      throw error;
    };
    await expect(waitFor([{ status: 'running' }], { isDone })).rejects.toBe(error);
  });
});

describe('onUpdate', () => {
  it('hears of every check, with progress as the service tells it', async () => {
    const updates: unknown[] = [];
    const answers = [{ status: 'running', progress: 0.5 }, { status: 'done' }];
    await waitFor(answers, { onUpdate: (update) => updates.push(update) });
    expect(updates).toMatchObject([
      { jobId: 'job_1', status: 'running', progress: 0.5, attempt: 1, nextPollInMs: 1 },
      { jobId: 'job_1', status: 'done', progress: undefined, attempt: 2, nextPollInMs: 0 },
    ]);
  });

  it('is an event of the client too, whoever waits', async () => {
    const answers: unknown[] = [{ status: 'running', progress: 0.5 }, { status: 'done' }];
    const { fetch } = answering(() => answers.shift());
    const client = messagingOver(fetch);
    const updates: unknown[] = [];
    client.on('job:update', ({ jobId, status, attempt }) => updates.push([jobId, status, attempt]));
    await client.contacts.waitForImport('job_1', quick);
    expect(updates).toEqual([
      ['job_1', 'running', 1],
      ['job_1', 'done', 2],
    ]);
  });

  it('that throws does not end the wait', async () => {
    const onUpdate = vi.fn(() => {
      throw new Error('a bug');
    });
    await expect(waitFor([{ status: 'done' }], { onUpdate })).resolves.toEqual({ status: 'done' });
    expect(onUpdate).toHaveBeenCalledTimes(1);
  });
});

describe('a job that is gone', () => {
  it('for half a minute is a NotFoundError, whatever was seen of it: how it ended is not known', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    const answers: unknown[] = [{ status: 'running', imported: 2 }];
    const { fetch, requests } = answering(() => answers.shift() ?? notFound());
    const options = { interval: 1_000 };
    const { error } = await settledInTime(() => wait(messagingOver(fetch), options));
    vi.useRealTimers();
    expect(error).toMatchObject({ name: 'NotFoundError' });
    expect(requests.length).toBeGreaterThan(25);
  });

  it('twice, and was never seen, is a NotFoundError', async () => {
    const wait = waitFor([notFound(), notFound()]);
    await expect(wait).rejects.toMatchObject({ name: 'NotFoundError' });
  });

  it('once is asked for again', async () => {
    await expect(waitFor([notFound(), { status: 'done' }])).resolves.toEqual({ status: 'done' });
  });
});

describe('a check that fails', () => {
  it.each([408, 429, 500, 503])('with %i is made again', async (status) => {
    const answers = [new Response(null, { status }), { status: 'done' }];
    await expect(waitFor(answers)).resolves.toEqual({ status: 'done' });
  });

  it.each([401, 403])('with %i twice ends the wait', async (status) => {
    const refused = () => new Response(null, { status });
    const wait = waitFor([refused(), refused()]);
    await expect(wait).rejects.toMatchObject({ status });
  });
});

describe('a wait that takes too long', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('rejects with what it saw, and can be resumed', async () => {
    const answers: unknown[] = Array.from({ length: 50 }, () => ({ status: 'running' }));
    const { error } = await settledInTime(() => waitFor(answers, { timeout: 150 }));
    expect(error).toBeInstanceOf(WaitTimeoutError);
    if (!(error instanceof WaitError)) {
      return;
    }
    expect(error).toMatchObject({ code: 'WAIT_TIMEOUT', fileId: 'job_1', lastStatus: 'running' });
    expect(error.elapsedMs).toBe(150);
    expect(error.polls).toBe(3);
    expect(error.message).toContain('call `resume({ timeout })`, in milliseconds, to wait on');
    answers.splice(0, answers.length, { status: 'done' });
    const resumed = await settledInTime(() => error.resume({ timeout: 5_000 }));
    expect(resumed.value).toEqual({ status: 'done' });
  });

  it('resumes with the options of the first wait', async () => {
    const onUpdate = vi.fn();
    const answers: unknown[] = Array.from({ length: 50 }, () => ({ status: 'running' }));
    const { error } = await settledInTime(() => waitFor(answers, { timeout: 400, onUpdate }));
    onUpdate.mockClear();
    const resumed = await settledInTime(() => (error as WaitError).resume());
    expect(resumed.error).toBeInstanceOf(WaitTimeoutError);
    expect(onUpdate).toHaveBeenCalled();
  });
});

it('bulk jobs are waited for in the same way', async () => {
  const { fetch, requests } = answering(() => ({ status: 'completed' }));
  await messagingOver(fetch).contacts.waitForBulkJob('job_1', quick);
  expect(requests[0]?.url).toBe('https://messaging.test/contacts/bulk/job_1');
  expect(requests[0]?.cache).toBe('no-store');
});

it('a job of the service is waited for on real HTTP, through lost answers', async () => {
  const { messaging, fake } = await serve({ messaging: { jobs: { perSecond: 5 } } });
  const client = messaging();
  const { jobId } = await client.contacts.import({ data: 'email\nann@example.com\n' });
  fake.fail('GET /contacts/import/{jobId}', { loseAnswer: true });
  await expect(client.contacts.waitForImport(jobId, { interval: 50 })).resolves.toMatchObject({
    status: 'completed',
  });
});

function waitFor(answers: unknown[], options: Parameters<typeof wait>[1] = {}) {
  const { fetch } = answering(() => answers.shift() ?? new Response(null, { status: 500 }));
  return wait(messagingOver(fetch), options);
}

type Waiting = Parameters<ReturnType<typeof messagingOver>['contacts']['waitForImport']>[1];

function wait(messaging: ReturnType<typeof messagingOver>, options: Waiting): Promise<ImportJob> {
  return messaging.contacts.waitForImport('job_1', { ...quick, ...options });
}

function notFound(): Response {
  return new Response(null, { status: 404 });
}
