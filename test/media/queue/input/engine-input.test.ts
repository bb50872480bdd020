import { memoryJournal, type MediaJob, type MediaOptions, type QueueOptions } from 'postreel';
import type { FakeMedia } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
// A file is not read on a fake clock.
import '../../../../src/media/queue/input/engine-input.js';
import {
  audioEndpoint,
  ending,
  fakeService,
  inTime,
  pass,
  speech,
  useFakeTime,
  video,
  videoEndpoint,
} from '../../../support/media/fake-time.js';
import { ListSource } from '../../../support/media/list-source.js';
import { collect, videos } from '../../../support/media/queue-helpers.js';

useFakeTime();

/** A fake with a client that has a journal, and a way to run a source to its end. */
function service(more: MediaOptions = {}) {
  const { fake, media } = fakeService();
  const journal = memoryJournal();
  const run = (source: ListSource, options?: QueueOptions) =>
    inTime(collect(media({ journal, ...more }).queue(source, options)));
  return { fake, media, journal, run };
}

describe('a queue over a source that acknowledges', () => {
  it('says of each job that it is done', async () => {
    const { fake, run } = service();
    const source = new ListSource(videos(30));
    const results = await run(source);
    expect(results.filter(({ file }) => file)).toHaveLength(30);
    expect(source.told).toHaveLength(30);
    expect(source.told.every((line) => / done file_/.test(line))).toBe(true);
    expect(fake.files).toHaveLength(30);
  });

  it('acknowledges a job once its file is saved, before it yields it', async () => {
    const { media, journal } = service();
    const source = new ListSource(videos(1));
    const order: string[] = [];
    const save = () => {
      order.push(`saving, ${source.told.length} told`);
      return Promise.resolve();
    };
    const read = async () => {
      for await (const { file } of media({ journal }).queue(source, { save })) {
        order.push(`${file ? 'file' : 'error'}, ${source.told.length} told`);
      }
    };
    await inTime(read());
    expect(order).toEqual(['saving, 0 told', 'file, 1 told']);
  });

  it('without `save` acknowledges a job when the next one is asked for', async () => {
    const { media, journal } = service();
    const source = new ListSource(videos(1));
    const told: number[] = [];
    const read = async () => {
      for await (const { file } of media({ journal }).queue(source)) {
        told.push(file ? source.told.length : -1);
      }
    };
    await inTime(read());
    expect(told).toEqual([0]);
    expect(source.told).toHaveLength(1);
  });

  it('tells that the outcome of a job is unknown, and does not submit it again', async () => {
    const { fake, run } = service();
    fake.fail(videoEndpoint, { loseAnswer: true });
    const source = new ListSource(videos(2));
    await run(source);
    expect(source.told).toEqual(['job 0 failed unknown', 'job 1 failed unknown']);
    expect(fake.files).toHaveLength(2);
  });

  it('tells that a job was rejected', async () => {
    const { run } = service();
    const source = new ListSource([video({ voiceId: '' }), video()]);
    await run(source);
    expect(source.told).toContain('job 0 failed not-sent');
    expect(source.told.some((line) => line.startsWith('job 1 done'))).toBe(true);
  });

  it('tells no outcome of a file that could not be saved: it is there', async () => {
    const { run } = service();
    const source = new ListSource(videos(1));
    await run(source, { save: () => Promise.reject(new Error('the disk is full')) });
    expect(source.told).toEqual(['job 0 failed undefined']);
  });

  it.each(['the journal cannot be written', 'the service cannot be reached', 'the key is refused'])(
    'hands jobs back, fails none, and ends where %s',
    async (what) => {
      const { fake, media, journal } = service();
      const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
      const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
      const putIfAbsent = () => Promise.reject(new Error('disk full'));
      const source = new ListSource(videos(50), { ends: false });
      const client = media({
        journal: what.includes('journal') ? { ...journal, putIfAbsent } : journal,
        ...(what.includes('service') && { fetch }),
        ...(what.includes('key') && { apiKey: 'revoked' }),
      });
      const { error } = await ending(inTime(collect(client.queue(source))));
      expect(error).toBeInstanceOf(Error);
      expect(source.told.length).toBeGreaterThan(0);
      expect(source.told.every((line) => line.endsWith('released'))).toBe(true);
      expect(source.inHand).toBe(0);
      expect(fake.files).toEqual([]);
    },
  );

  it('hands back, as one that may be tried again, what was submitted with a key that is revoked', async () => {
    const { fake, media, journal } = service();
    const source = new ListSource(videos(2), { ends: false });
    const read = ending(collect(media({ journal }).queue(source)));
    await pass(10_000);
    fake.apiKeys.clear();
    expect((await inTime(read)).error).toMatchObject({ status: 401 });
    expect(source.told.map((line) => line.split(' ').at(-1))).toEqual(['released', 'released']);
    expect(fake.files).toHaveLength(2);
  });

  it('hands back what a cap of the caller leaves, and ends without an error', async () => {
    const { fake, run } = service();
    const source = new ListSource(videos(5), { ends: false });
    const results = await run(source, { maxJobs: 2 });
    expect(results.filter(({ file }) => file)).toHaveLength(2);
    expect(source.told.filter((line) => line.endsWith('released'))).toHaveLength(3);
    expect(fake.files).toHaveLength(2);
  });

  it('follows a job that another worker submitted before it died', async () => {
    const { fake, media, journal } = service();
    const worker = media({ journal }).queue(new ListSource(videos(3)));
    const first = worker[Symbol.asyncIterator]().next();
    first.catch(() => undefined);
    await inTime(first); // and nothing is acknowledged
    const source = new ListSource(videos(3));
    const results = await inTime(collect(media({ journal }).queue(source)));
    expect(results.filter(({ file }) => file)).toHaveLength(3);
    expect(fake.files).toHaveLength(3);
  });

  it('takes a job again that its source hands out again after a failure', async () => {
    const { fake, media, journal } = service();
    fake.fail(videoEndpoint, { status: 422 });
    const source = new ListSource([video()], { ends: false });
    const queue = media({ journal }).queue(source);
    const read = async () => {
      for await (const { error } of queue) {
        if (error !== undefined) {
          source.add({ id: 'job 0', job: video() });
        } else {
          queue.drain();
        }
      }
    };
    await inTime(read());
    expect(source.told[0]).toBe('job 0 failed rejected');
    expect(source.told[1]).toMatch(/^job 0 done/);
  });

  it('takes no more than two jobs for each that may be in progress', async () => {
    const { run } = service();
    const source = new ListSource(videos(30));
    await run(source, { concurrency: 4 });
    expect(source.maxInHand).toBeLessThanOrEqual(8);
    expect(source.told).toHaveLength(30);
  });

  it('takes no more either where `concurrency` is above what may be pending', async () => {
    const { run } = service();
    const source = new ListSource(videos(100));
    await run(source, { concurrency: 100 });
    expect(source.maxInHand).toBeLessThanOrEqual(40);
    expect(source.told).toHaveLength(100);
  });

  it('hands back at the deadline what another worker may have submitted', async () => {
    const { fake, media, journal } = service();
    const fetch: typeof globalThis.fetch = (input, init) => {
      const never = new Promise<never>(() => undefined); // it crashes before the answer
      return fake.fetch(input, init).then(() => never);
    };
    const crashed = media({ journal, fetch }).queue(new ListSource([video()]));
    void ending(crashed[Symbol.asyncIterator]().next());
    await pass(5_000);
    const source = new ListSource([video()], { ends: false });
    const options = { deadline: 60_000 };
    const [result] = await inTime(collect(media({ journal }).queue(source, options)));
    expect(result!.error).toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'unknown' });
    expect(source.told).toEqual(['job 0 released']);
  });

  it('extends what it has in hand every half a minute', async () => {
    const { run } = service();
    const source = new ListSource(videos(1));
    await run(source);
    expect(source.extended.length).toBeGreaterThanOrEqual(3);
  });

  it('waits out a store that restarts', async () => {
    const { run } = service();
    const source = new ListSource(videos(2));
    source.breakDown(3);
    await run(source);
    expect(source.told).toHaveLength(2);
  });

  it('goes on when its source does not hear of a job, and says so', async () => {
    const { media, journal } = service();
    const source = new ListSource(videos(2));
    source.done = ({ id }) => Promise.reject(new Error(`${id} has lost its lock`));
    const client = media({ journal });
    const warnings: string[] = [];
    client.on('warning', ({ message }) => warnings.push(message));
    const results = await inTime(collect(client.queue(source)));
    expect(results.filter(({ file }) => file)).toHaveLength(2);
    expect(warnings).toEqual([
      'The source of the queue was not told of a job: job 0 has lost its lock',
      'The source of the queue was not told of a job: job 1 has lost its lock',
    ]);
  });

  it('hands back what it did not finish when it is left', async () => {
    const { media, journal } = service();
    const source = new ListSource(videos(3));
    const read = async () => {
      for await (const { file } of media({ journal }).queue(source)) {
        if (file) {
          break;
        }
      }
    };
    await inTime(read());
    expect(source.told).toEqual(['job 0 released', 'job 1 released', 'job 2 released']);
    expect(source.inHand).toBe(0);
  });

  it('hands back what it never sent when it drains, and fails none of it', async () => {
    const { fake, media, journal } = service();
    const source = new ListSource(videos(40), { ends: false });
    const queue = media({ journal }).queue(source);
    const read = async () => {
      for await (const { file } of queue) {
        expect(file).toBeDefined();
        queue.drain();
      }
    };
    await inTime(read());
    const released = source.told.filter((line) => line.endsWith('released'));
    expect(released).toHaveLength(40 - fake.files.length);
    expect(source.told.filter((line) => line.includes('failed'))).toEqual([]);
    expect(source.inHand).toBe(0);
  });

  it('hands back by a failure without an outcome where the source has no `release`', async () => {
    const { media, journal } = service();
    const source = new ListSource(videos(2), { ends: false });
    Object.defineProperty(source, 'release', { value: undefined });
    const queue = media({ journal }).queue(source);
    const read = async () => {
      for await (const { file } of queue) {
        expect(file).toBeDefined();
        break;
      }
    };
    await inTime(read());
    expect(source.told).toEqual(['job 0 failed undefined', 'job 1 failed undefined']);
  });

  it('takes a job that it has in hand for the same job: it is made once, and told once', async () => {
    const { fake, media, journal } = service();
    const source = new ListSource([video({ prompt: 'Cats' })], { ends: false });
    const queue = media({ journal }).queue(source);
    const results: unknown[] = [];
    const read = async () => {
      for await (const { index, file } of queue) {
        results.push([index, file !== undefined]);
        queue.drain();
      }
    };
    const run = read();
    await pass(30_000);
    source.add({ id: 'job 0', job: video({ prompt: 'Cats' }) });
    await inTime(run);
    expect(results).toEqual([[0, true]]);
    expect(source.told).toEqual([`job 0 done ${fake.files[0]!.fileId}`]);
    expect(fake.files).toHaveLength(1);
  });

  it('tells the later copy of a job, which has the lock', async () => {
    const { media, journal } = service();
    const source = new ListSource([video()], { ends: false });
    const told: unknown[] = [];
    source.done = (item) => Promise.resolve(void told.push(item));
    const queue = media({ journal }).queue(source);
    const read = async () => {
      for await (const { file } of queue) {
        expect(file).toBeDefined();
        queue.drain();
      }
    };
    const run = read();
    await pass(30_000);
    const later = { id: 'job 0', job: video() };
    source.add(later);
    await inTime(run);
    expect(told).toEqual([later]);
    expect(told[0]).toBe(later);
  });

  it('does not keep other results waiting while a source is told again', async () => {
    const { media, journal } = service();
    const source = new ListSource(videos(5));
    source.done = () => Promise.reject(new Error('Missing lock'));
    const at: number[] = [];
    const read = async () => {
      for await (const { file } of media({ journal }).queue(source, { save })) {
        expect(file).toBeDefined();
        at.push(Date.now());
      }
    };
    const save = () => Promise.resolve();
    const client = read();
    await inTime(client);
    expect(Math.max(...at) - Math.min(...at)).toBeLessThan(15_000);
  });

  it('fails a job that cannot be read alone, and makes the others', async () => {
    const { fake, media, journal } = service();
    const source = new ListSource(videos(3));
    const problem = new Error('no JSON');
    source.take = poisoned(source, 'job 1', problem);
    const client = media({ journal });
    const warnings: string[] = [];
    client.on('warning', ({ message }) => warnings.push(message));
    const results = await inTime(collect(client.queue(source)));
    expect(results.filter(({ file }) => file)).toHaveLength(2);
    expect(source.told).toContain('job 1 failed not-sent');
    expect(source.inHand).toBe(0);
    expect(warnings).toEqual(['The job job 1 of the source cannot be read, and fails: no JSON']);
    expect(fake.files).toHaveLength(2);
  });

  it('makes the good jobs after any number of bad ones, and fails none that it never sent', async () => {
    const { fake, media, journal } = service();
    const fetch = refusing(fake, 'bad');
    const bad = Array.from({ length: 8 }, () => speech({ content: 'bad' }));
    const source = new ListSource(bad, { ends: false });
    const queue = media({ journal, fetch }).queue(source);
    let results = 0;
    const read = async () => {
      for await (const { index } of queue) {
        results++;
        if (index === 6) {
          ['good 1', 'good 2'].forEach((id) => source.add({ id, job: speech() }));
        } else if (results === 10) {
          queue.drain();
        }
      }
    };
    await inTime(read());
    const failed = source.told.filter((line) => line.includes('failed'));
    expect(failed).toHaveLength(8);
    expect(failed.every((line) => line.endsWith('failed rejected'))).toBe(true);
    const done = source.told.filter((line) => line.includes('done'));
    expect(done.map((line) => line.slice(0, 6))).toEqual(['good 1', 'good 2']);
    expect(fetch.refused).toBeGreaterThanOrEqual(8);
  });

  it('hands back what refusals without end never let it send', async () => {
    const { fake, media, journal } = service();
    fake.fail(audioEndpoint, { status: 429, times: 999 });
    const texts = Array.from({ length: 50 }, () => speech());
    const source = new ListSource(texts, { ends: false });
    const queue = media({ journal }).queue(source, { outageTimeout: 3_600_000 });
    const { error } = await ending(inTime(collect(queue)));
    expect(error).toMatchObject({
      code: 'QUEUE_ENDED',
      outcome: 'not-sent',
      cause: { status: 429 },
    });
    expect(source.told.length).toBeGreaterThan(0);
    expect(source.told.filter((line) => !line.endsWith('released'))).toEqual([]);
    expect(source.inHand).toBe(0);
  });

  it('hands back what a `take()` brings that was under way when the queue was drained', async () => {
    const { media, journal } = service();
    const source = new ListSource(videos(3), { ends: false });
    const queue = media({ journal }).queue(source);
    source.take = slowly(source.take.bind(source), 500);
    const read = collect(queue);
    await pass(300);
    queue.drain();
    await inTime(read);
    expect(source.told).toEqual(['job 0 released', 'job 1 released', 'job 2 released']);
    expect(source.inHand).toBe(0);
  });

  it('hands back what a `take()` brings that was under way when the loop was left', async () => {
    const { media, journal } = service();
    const source = new ListSource(videos(1), { ends: false });
    const read = async () => {
      for await (const { file } of media({ journal }).queue(source)) {
        expect(file).toBeDefined();
        await new Promise<void>((asked) => {
          source.take = slowly(() => Promise.resolve([{ id: 'late', job: video() }]), 500, asked);
        });
        break;
      }
    };
    await inTime(read());
    expect(source.told).toEqual(['job 0 released', 'late released']);
  });

  it('keeps a job in hand that a late `take()` brings again, and tells its later copy', async () => {
    const { media, journal } = service();
    const source = new ListSource([video()], { ends: false });
    const told: unknown[] = [];
    source.done = (item) => Promise.resolve(void told.push(item));
    const queue = media({ journal }).queue(source);
    const read = collect(queue);
    await pass(10_200);
    const later = { id: 'job 0', job: video() };
    source.take = slowly(() => Promise.resolve([later]), 1_000);
    await pass(1_500);
    queue.drain();
    await inTime(read);
    expect(told).toEqual([later]);
    expect(told[0]).toBe(later);
    expect(source.told).toEqual([]);
  });

  it('ends for a refused key although its source does not answer', async () => {
    const { media, journal } = service();
    const source = new ListSource([speech()], { ends: false });
    const take = source.take.bind(source);
    let calls = 0;
    source.take = (count) => (calls++ === 0 ? take(count) : new Promise(() => undefined));
    const { error } = await ending(
      inTime(collect(media({ journal, apiKey: 'revoked' }).queue(source))),
    );
    expect(error).toMatchObject({ status: 401 });
    expect(source.told).toEqual(['job 0 released']);
  });

  it.each(['done', 'release'] as const)(
    'ends within a minute, and says so, where `%s` does not answer',
    async (call) => {
      const { media, journal } = service();
      const source = new ListSource(videos(3), { ends: false });
      source[call] = () => new Promise(() => undefined);
      const stop = new AbortController();
      const client = media({ journal });
      const warnings: string[] = [];
      client.on('warning', ({ message }) => warnings.push(message));
      const save = () => Promise.resolve();
      const results: number[] = [];
      const read = async () => {
        for await (const { index } of client.queue(source, { save, signal: stop.signal })) {
          results.push(index);
        }
      };
      const run = ending(read());
      await pass(call === 'done' ? 3_600_000 : 10_000);
      expect(results).toHaveLength(call === 'done' ? 3 : 0);
      const before = Date.now();
      stop.abort(new Error('stop'));
      const { error } = await inTime(run);
      expect(error).toMatchObject({ message: 'stop' });
      expect(Date.now() - before).toBeLessThan(60_000);
      const warning = 'The source of the queue was not told of a job: No answer within 5000 ms.';
      expect(warnings).toEqual([warning, warning, warning]);
    },
  );

  it('ends within a minute of a stop right after a call that does not answer', async () => {
    const { media, journal } = service();
    const source = new ListSource(videos(30), { ends: false });
    const hang = () => new Promise<never>(() => undefined);
    const queue = media({ journal }).queue(source);
    let leftAt = 0;
    const read = async () => {
      for await (const { file } of queue) {
        expect(file).toBeDefined();
        Object.assign(source, { take: hang, done: hang, fail: hang, release: hang });
        await new Promise((resolve) => setTimeout(resolve, 5_000));
        leftAt = Date.now();
        break;
      }
    };
    await inTime(read());
    expect(leftAt).toBeGreaterThan(0);
    expect(Date.now() - leftAt).toBeLessThan(60_000);
  });

  it('tells a job no more once a call has come through that seemed to hang', async () => {
    const { media, journal } = service();
    const source = new ListSource(videos(1));
    const done = source.done.bind(source);
    let calls = 0;
    source.done = async (item, file) => {
      calls++;
      await done(item, file);
      await new Promise((resolve) => setTimeout(resolve, 5_500));
    };
    const client = media({ journal });
    const warnings: string[] = [];
    client.on('warning', ({ message }) => warnings.push(message));
    await inTime(collect(client.queue(source)));
    expect(calls).toBe(1);
    expect(warnings).toEqual([]);
  });

  it('hands back again, at the end, what its source did not hear of', async () => {
    const { media, journal } = service();
    const source = new ListSource(videos(3), { ends: false });
    const queue = media({ journal }).queue(source);
    const stop = async () => {
      for await (const { file } of queue) {
        expect(file).toBeDefined();
        source.breakDown(3);
        break;
      }
    };
    await inTime(stop());
    expect(source.told).toEqual(['job 0 released', 'job 1 released', 'job 2 released']);
  });

  it('extends with a function that returns no promise, or throws', async () => {
    const { run } = service();
    const source = new ListSource(videos(1));
    let calls = 0;
    Object.assign(source, {
      extend: () => {
        if (++calls === 2) {
          throw new Error('no lock');
        }
      },
    });
    await run(source);
    expect(calls).toBeGreaterThanOrEqual(3);
    expect(source.told).toHaveLength(1);
  });

  it('has no more unreadable jobs in hand than others', async () => {
    const { run } = service();
    const source = new ListSource(videos(200));
    const take = source.take.bind(source);
    const problem = new Error('no JSON');
    source.take = async (count) => (await take(count))?.map((item) => ({ ...item, problem }));
    await run(source);
    expect(source.maxInHand).toBeLessThanOrEqual(40);
    expect(source.told).toHaveLength(200);
  });

  it('makes a job of a class, also one that two items share', async () => {
    const { fake, run } = service();
    class Speech {
      readonly text = 'Hello';
      toJSON() {
        return speech({ content: this.text });
      }
    }
    const shared = new Speech() as unknown as MediaJob;
    const source = new ListSource([shared, shared]);
    await run(source);
    expect(source.told.map((line) => line.slice(0, 10))).toEqual(['job 0 done', 'job 1 done']);
    expect(fake.files).toHaveLength(2);
  });

  it('needs a journal: without one a job could be paid for twice', async () => {
    const { media } = fakeService();
    const { error } = await ending(inTime(collect(media().queue(new ListSource([])))));
    expect(error).toMatchObject({ code: 'JOURNAL_MISSING' });
  });
});

describe('two sources on one journal', () => {
  it('that number their jobs alike get files of their own', async () => {
    const { fake, run } = service();
    const [cats, dogs] = ['Cats', 'Dogs'].map((prompt) => [video({ prompt })]);
    await run(new ListSource(cats!, { name: 'bullmq/bull/cats' }));
    const other = new ListSource(dogs!, { name: 'bullmq/bull/dogs' });
    const [result] = await run(other);
    expect(fake.files.map(({ settings }) => settings.prompt)).toEqual(['Cats', 'Dogs']);
    expect(other.told).toEqual([`job 0 done ${result!.file!.fileId}`]);
  });

  it('whose counter began again: the job fails by its name, and gets no file', async () => {
    const { fake, run } = service();
    await run(new ListSource([video({ prompt: 'Cats' })]));
    const again = new ListSource([video({ prompt: 'Dogs' })]);
    const [result] = await run(again);
    expect(result!.error).toMatchObject({ code: 'JOB_NAME_TAKEN' });
    expect(again.told).toEqual(['job 0 failed not-sent']);
    expect(fake.files).toHaveLength(1);
  });
});

/** The `take` of a source that cannot read one of its jobs. */
function poisoned(source: ListSource, id: string, problem: unknown): ListSource['take'] {
  const take = source.take.bind(source);
  return async (count) =>
    (await take(count))?.map((item) => (item.id === id ? { ...item, problem } : item));
}

/** The same `take` with an answer that comes later. */
function slowly(
  take: ListSource['take'],
  delayMs: number,
  onCall: () => void = () => undefined,
): ListSource['take'] {
  return async (count) => {
    onCall();
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    return take(count);
  };
}

/** A service that refuses every job with this text, and counts how often. */
function refusing(fake: FakeMedia, content: string) {
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    if (!(await request.clone().text()).includes(`"${content}"`)) {
      return fake.fetch(request);
    }
    fetch.refused++;
    return Response.json({ success: false, message: 'Not allowed.' }, { status: 403 });
  };
  fetch.refused = 0;
  return fetch;
}
