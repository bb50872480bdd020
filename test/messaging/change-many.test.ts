import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it, vi } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { fated } from '../support/messaging/fated.js';
import { settledInTime } from '../support/settled.js';
import { reportOf } from '../support/messaging/whole-report.js';

const wait = { interval: 1 };
const newContacts = 'subscribed';

describe('a call that changes many', () => {
  it('continues at `from`, where an earlier call ended', async () => {
    const { fake, messaging, controller } = fated(['ok', 'abort after']);
    const { signal } = controller;
    const note = 'x'.repeat(170_000);
    const rows = Array.from({ length: 9 }, (_, at) => ({ email: `p${at}@example.com`, note }));
    const first = await reportOf(
      messaging.contacts.importAll(rows, { newContacts, wait, signal }),
      9,
    );
    expect(first).toMatchObject({ resumeFrom: 3, notReached: 6 });
    const from = first.resumeFrom;
    const rest = await messaging.contacts.importAll(rows, { newContacts, wait, from });
    expect(rest.done).toBe(6);
    expect(fake.project.contacts.size).toBe(9);
    await expect(messaging.contacts.importAll(rows, { from: -1 })).rejects.toThrow(
      '`from` must be',
    );
  });

  it('ends at a rejected key, and names the rows of the rejected call', async () => {
    const { messaging } = fated(['wrong key']);
    const ids = Array.from({ length: 1500 }, (_, at) => `con_${at}`);
    const report = await reportOf(messaging.contacts.deleteAll(ids, { wait }), 1500);
    expect(report.cause).toMatchObject({ status: 401 });
    expect(report).toMatchObject({ done: 0, resumeFrom: 1000, notReached: 500 });
    expect(report.failed).toHaveLength(1000);
  });

  it('ends at a key without the permission, too', async () => {
    const { contacts } = messagingOver(() =>
      Promise.resolve(Response.json({ error: 'no' }, { status: 403 })),
    );
    const ids = Array.from({ length: 1500 }, (_, at) => `con_${at}`);
    const report = await reportOf(contacts.deleteAll(ids), 1500);
    expect(report).toMatchObject({ cause: { status: 403 }, resumeFrom: 1000, notReached: 500 });
  });

  it('an abort while a batch waits for the rate limit leaves its rows not reached', async () => {
    const fake = createFakeMessaging();
    const rateLimit = { limit: 1, windowMs: 60_000 };
    const messaging = new MessagingClient({ ...fake.options, rateLimit });
    const { contacts } = messaging;
    await contacts.list();
    const controller = new AbortController();
    messaging.on('throttled', () => controller.abort(new Error('enough')));
    const call = contacts.deleteAll(['con_1', 'con_2'], { signal: controller.signal });
    const report = await reportOf(call, 2);
    expect(report).toMatchObject({ done: 0, failed: [], unknown: [], notReached: 2 });
    expect(fake.requests).toHaveLength(1);
  });

  it('an abort while the source is waiting ends the call at once', async () => {
    const { messaging } = fated([]);
    const controller = new AbortController();
    const silent = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
    };
    const call = messaging.contacts.deleteAll(silent, { signal: controller.signal });
    controller.abort(new Error('enough'));
    const report = await reportOf(call, 0);
    expect(report).toMatchObject({ resumeFrom: 0, notReached: undefined });
  });

  it('makes no call for a batch of invalid rows', async () => {
    const { fake, messaging } = fated([]);
    const wrong = [undefined, ''] as unknown as string[]; // on purpose
    const report = await messaging.contacts.deleteAll(wrong, { wait });
    expect(report).toMatchObject({ done: 0, failed: [{ index: 0 }, { index: 1 }], jobs: [] });
    const looked = messaging.contacts.lookupAll(['a@', 'b@']).next();
    await expect(looked).rejects.toMatchObject({
      result: { failed: [{ index: 0 }, { index: 1 }] },
    });
    expect(fake.requests).toEqual([]);
  });

  it('does not check the rows before `from`', async () => {
    const { fake, messaging } = fated([]);
    const report = await messaging.contacts.deleteAll(['', 'con_7', 'con_8'], { wait, from: 2 });
    expect(report.failed).toMatchObject([{ index: 2, row: 'con_8' }]);
    expect(fake.requests[0]?.body).toEqual({ contactIds: ['con_8'] });
  });

  it('reports the rows in their order, whether the client or the service rejected them', async () => {
    const { messaging } = fated([]);
    const ids = ['con_8', '', 'con_9', ''];
    const { failed } = await messaging.contacts.deleteAll(ids, { wait });
    expect(failed.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  });

  it('keeps the report when the source throws an error about its input after the first rows', async () => {
    const { messaging } = fated([]);
    const failure = await messaging.contacts.deleteAll([]).then(
      () => messaging.contacts.get('').catch((error: unknown) => error),
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ name: 'InvalidRequestError' });
    const rows = function* () {
      yield* Array.from({ length: 1000 }, (_, at) => `con_${at}`);
      throw failure;
    };
    const call = messaging.contacts.deleteAll(rows(), { wait });
    await expect(call).rejects.toMatchObject({ name: 'PartialError', cause: failure });
  });

  it.each(['con_1', new String('con_1'), undefined, 7, {}])(
    '%o is not a list of rows',
    async (rows) => {
      const { messaging } = fated([]);
      const { contacts } = messaging;
      const wrong = rows as never; // on purpose
      const refusal = { name: 'InvalidRequestError', outcome: 'not-sent' };
      for (const method of ['deleteAll', 'subscribeAll', 'unsubscribeAll', 'importAll'] as const) {
        await expect(contacts[method](wrong)).rejects.toMatchObject(refusal);
      }
      await expect(contacts.lookupAll(wrong).next()).rejects.toMatchObject(refusal);
      await expect(messaging.verifyAll(wrong).next()).rejects.toMatchObject(refusal);
    },
  );
});

it('an id that is listed twice is one contact, as the service counts it', async () => {
  const result = { totalRequested: 2, successCount: 2, failureCount: 0 };
  const { contacts } = messagingOver((input, init) =>
    Promise.resolve(
      Response.json(
        new Request(input, init).method === 'POST'
          ? { jobId: 'job_1' }
          : { id: 'job_1', state: 'completed', result },
      ),
    ),
  );
  const report = await contacts.deleteAll(['con_1', 'con_1', 'con_2'], { wait });
  expect(report).toMatchObject({ done: 3, failed: [], unknown: [] });
});

describe('the record of a job', () => {
  const answers = (started: object, job: object | number = { status: 'completed' }) =>
    messagingOver(
      (input, init) => {
        const isStart = new Request(input, init).method === 'POST';
        return Promise.resolve(
          typeof job === 'number' && !isStart
            ? Response.json({ error: 'no' }, { status: job })
            : Response.json(isStart ? started : job),
        );
      },
      { retries: 0 },
    ).contacts;

  it.each([{ success: true }, { queued: 2 }, { jobId: '' }, { jobId: 7 }])(
    'without a job id the rows are unknown: %j',
    async (started) => {
      const report = await answers(started).deleteAll(['a', 'b'], { wait });
      expect(report).toMatchObject({ done: 0, failed: [], unknown: [{ row: 'a' }, { row: 'b' }] });
      expect(report.unknown[0]?.error).toMatchObject({
        code: 'JOB_ID_MISSING',
        outcome: 'unknown',
      });
    },
  );

  it('a job that is gone leaves its rows unknown', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    let checks = 0;
    const messaging = messagingOver((input, init) => {
      const isStart = new Request(input, init).method === 'POST';
      const isKnown = isStart || checks++ === 0;
      return Promise.resolve(
        isKnown
          ? Response.json({ jobId: 'job_1', status: 'queued', processed: 0 })
          : Response.json({ error: 'no' }, { status: 404 }),
      );
    });
    const call = () => messaging.contacts.deleteAll(['a', 'b'], { wait: { interval: 1_000 } });
    const { value } = await settledInTime(call);
    vi.useRealTimers();
    expect(value).toMatchObject({ done: 0, failed: [], unknown: [{ row: 'a' }, { row: 'b' }] });
    expect(checks).toBe(3); // seen once, then refused twice in a row
  });

  it('a failed status check leaves the rows unknown', async () => {
    const report = await answers({ jobId: 'job_1' }, 404).deleteAll(['a'], { wait });
    expect(report).toMatchObject({ done: 0, failed: [] });
    expect(report.unknown[0]?.error).toMatchObject({
      code: 'JOB_NOT_FOLLOWED',
      outcome: 'unknown',
    });
  });

  it.each([
    { failed: 1 },
    { errors: [{ row: 2 }] },
    { total: 2, processed: 1 },
    { created: 1, updated: 0 },
    { result: { error_count: '1' } },
  ])('with counts that do not add up the rows are unknown: %j', async (counts) => {
    const job = { status: 'completed', ...counts };
    const report = await answers({ jobId: 'job_1' }, job).deleteAll(['a', 'b'], { wait });
    expect(report).toMatchObject({ done: 0, failed: [], jobs: [job] });
    expect(report.unknown).toHaveLength(2);
  });

  it.each([
    [{}, 'unknown'],
    [{ processed: 1 }, 'unknown'],
    [{ result: { successCount: 0, failureCount: 2 } }, 'failed'],
    [{ result: { successCount: 0, unchangedCount: 1, failureCount: 1 } }, 'unknown'],
  ] as const)('a job that failed with the counts %j leaves its rows %s', async (counts, list) => {
    const job = { status: 'failed', ...counts };
    const report = await answers({ jobId: 'job_1' }, job).deleteAll(['a', 'b'], { wait });
    expect(report[list]).toHaveLength(2);
    expect(report.done).toBe(0);
  });
});

describe('lookupAll and verifyAll', () => {
  function* breaking(count: number) {
    for (let at = 0; at < count; at++) {
      yield `p${at}@example.com`;
    }
    throw new Error('The source broke.');
  }

  it('lose no row if the source throws', async () => {
    const { messaging } = fated([]);
    const lookups: unknown[] = [];
    const looking = async () => {
      for await (const answer of messaging.contacts.lookupAll(breaking(700))) {
        lookups.push(answer);
      }
    };
    await expect(looking()).rejects.toMatchObject({
      cause: { message: 'The source broke.' },
      result: { done: 700, resumeFrom: 700, notReached: undefined },
    });
    expect(lookups).toHaveLength(2);
    let verified = 0;
    const verifying = async () => {
      for await (const { error } of messaging.verifyAll(breaking(30))) {
        verified += error === undefined ? 1 : 0;
      }
    };
    await expect(verifying()).rejects.toThrow('The source broke.');
    expect(verified).toBe(30);
  });

  it('lookupAll reports where it ended, and continues there', async () => {
    const fake = createFakeMessaging();
    const { contacts } = new MessagingClient({ ...fake.options, retries: 0 });
    const emails = Array.from({ length: 1200 }, (_, at) => (at === 3 ? '' : `p${at}@b.c`));
    const found: unknown[] = [];
    const run = async (from?: number) => {
      for await (const { notFound } of contacts.lookupAll(emails, { from })) {
        found.push(...(notFound as unknown[]));
        fake.fail('POST /contacts/lookup', { status: 500 });
      }
    };
    const result = { done: 499, failed: [{ index: 3 }], resumeFrom: 500, notReached: 700 };
    await expect(run()).rejects.toMatchObject({ cause: { status: 500 }, result });
    await expect(run(500)).rejects.toMatchObject({ result: { resumeFrom: 1000, notReached: 200 } });
    await run(1000);
    expect(found).toEqual(emails.filter((email) => email !== ''));
  });

  it('lookupAll waits for other calls', async () => {
    const fake = createFakeMessaging();
    const messaging = new MessagingClient({
      ...fake.options,
      rateLimit: { limit: 1, windowMs: 60_000 },
    });
    await messaging.contacts.list();
    const later: PromiseLike<unknown>[] = [];
    messaging.once('throttled', () => later.push(messaging.templates.list().then()));
    await messaging.contacts.lookupAll(['ann@example.com']).next();
    await Promise.all(later);
    const paths = fake.requests.map(({ path }) => path);
    expect(paths).toEqual(['/contacts', '/templates', '/contacts/lookup']);
  });

  it.each(['an abort', 'a refused key'])(
    'verifyAll ends at %s, and does not read the rest of its source',
    async (what) => {
      const controller = new AbortController();
      let answers = 0;
      const messaging = messagingOver(() => {
        answers++;
        if (what === 'an abort' && answers === 30) {
          controller.abort(new Error('enough'));
        }
        return Promise.resolve(
          what === 'an abort'
            ? Response.json({ success: true, data: { email: 'a@example.com', valid: true } })
            : Response.json({ error: 'no' }, { status: 401 }),
        );
      });
      let taken = 0;
      const emails = function* () {
        for (; taken < 10_000; taken++) {
          yield `p${taken}@example.com`;
        }
      };
      const results: unknown[] = [];
      const run = async () => {
        for await (const result of messaging.verifyAll(emails(), { signal: controller.signal })) {
          results.push(result);
        }
      };
      const end = what === 'an abort' ? { message: 'enough' } : { status: 401 };
      await expect(run()).rejects.toMatchObject(end);
      expect(taken).toBeLessThan(100);
      expect(results.length).toBe(taken + 1); // the one that it stopped at is not counted
    },
  );

  it('take a stream that is not iterable, as in browsers', async () => {
    const { messaging } = fated([]);
    const stream = new ReadableStream<string>({
      start(controller) {
        controller.enqueue('ann@example.com');
        controller.close();
      },
    });
    const plain = { getReader: () => stream.getReader() };
    const results: string[] = [];
    for await (const { email } of messaging.verifyAll(plain)) {
      results.push(email);
    }
    expect(results).toEqual(['ann@example.com']);
  });
});

it('reports any number of rejected rows', async () => {
  const { messaging } = fated([]);
  const count = 150_000; // more than the arguments that a call takes
  const rows = Array.from({ length: count }, () => ({ mail: 'ann@example.com' }) as never); // as a slip
  const report = await messaging.contacts.importAll(rows, { newContacts, wait });
  expect([report.done, report.failed.length, report.failed.at(-1)?.index]).toEqual([
    0,
    count,
    count - 1,
  ]);
});

describe('a `from` beyond the last row', () => {
  const ids = ['con_1', 'con_2'];
  const rows = [{ email: 'ann@example.com' }, { email: 'bob@example.com' }];
  const mail = { from: 'shop@example.com', subject: 'Hi', body: '<p>Hi</p>' };
  const said = 'did nothing: `from` is 2, and the input has 2 rows.';

  it.each<[string, (messaging: MessagingClient, from: number) => Promise<unknown>, string]>([
    [
      'importAll',
      (m, from) => m.contacts.importAll(rows, { newContacts, wait, from }),
      `\`contacts.importAll()\` ${said}`,
    ],
    [
      'importAll of a text',
      (m, from) =>
        m.contacts.importAll(['email\nann@example.com\n', 'bob@example.com\n'], {
          newContacts,
          wait,
          from,
        }),
      '`contacts.importAll()` did nothing: `from` is 2, and the input has',
    ],
    [
      'deleteAll',
      (m, from) => m.contacts.deleteAll(ids, { wait, from }),
      `\`contacts.deleteAll()\` ${said}`,
    ],
    [
      'lookupAll',
      async (m, from) => {
        for await (const found of m.contacts.lookupAll(['a@b.co', 'b@b.co'], { from })) {
          expect(found).toBeDefined();
        }
      },
      `\`contacts.lookupAll()\` ${said}`,
    ],
    [
      'sendEach',
      (m, from) => m.sendEach(['a@b.co', 'b@b.co'], mail, { from }),
      `\`sendEach()\` ${said}`,
    ],
  ])('causes a warning in %s', async (_, run, message) => {
    const fake = createFakeMessaging();
    const messaging = new MessagingClient(fake.options);
    const heard: string[] = [];
    messaging.on('warning', (warning) => heard.push(warning.message));
    await run(messaging, 2);
    expect(heard).toEqual([expect.stringContaining(message)]);
    expect(fake.requests).toEqual([]);
    await run(messaging, 1).catch(() => undefined); // an id may be unknown
    expect(heard).toHaveLength(1);
  });
});
