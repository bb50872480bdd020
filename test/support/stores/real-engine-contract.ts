import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MediaClient, type AudioRequest, type JournalStore, type MediaFile } from 'postreel';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { audioEndpoint, speech as speechOf, statusEndpoint } from '../media/fake-time.js';
import { bundleScript } from '../node/bundled.js';

const speech = (content: string): AudioRequest => speechOf({ content });

/** The number of jobs in each state; delayed jobs count as waiting. */
export interface JobCounts {
  readonly waiting: number;
  readonly completed: number;
  readonly failed: number;
}

/** A queue of a real engine. */
export interface RealQueue {
  readonly name: string;
  /** Adds jobs that may be tried this often. */
  add(jobs: readonly AudioRequest[], tries: number): Promise<unknown>;
  /**
   * Starts a worker in this process that runs two jobs at a time; returns a function that closes
   * it.
   */
  work(
    media: MediaClient,
    options: { save: (file: MediaFile) => Promise<unknown>; signal?: AbortSignal },
  ): Promise<() => Promise<unknown>>;
  counts(): Promise<JobCounts>;
  /** Makes delayed jobs due now, and finds the jobs of dead workers. */
  makeAllDue(): Promise<unknown>;
  close(): Promise<unknown>;
}

/** A real engine. */
export interface RealEngine {
  readonly name: 'bullmq' | 'pg-boss';
  /** The address of its store. */
  readonly store: string;
  /** A separate journal. */
  journal(name: string): JournalStore;
  open(queue: string): Promise<RealQueue>;
}

/**
 * The tests of a worker of a real engine. `triesOfStop` is the number of tries that a stop costs
 * with this engine.
 */
export function realEngineContract(
  engine: () => RealEngine,
  { triesOfStop }: { readonly triesOfStop: number },
): void {
  let server: FakeServer;
  let count = 0;
  const queues: RealQueue[] = [];
  beforeAll(async () => {
    const durations = ({ settings }: { settings: Record<string, unknown> }) =>
      String(settings['content']).startsWith('Long') ? 4_000 : 0;
    server = await startFakeServer({ media: { durations, queueTime: 0, rateLimit: false } });
  });
  afterEach(async () => {
    await Promise.all(queues.splice(0).map((queue) => queue.close()));
  });
  afterAll(() => server.close());

  /** A separate queue, with clients that behave like separate processes on one journal. */
  async function start() {
    const name = `speech-${++count}`;
    const queue = await engine().open(name);
    queues.push(queue);
    const { media: fake, mediaUrl: baseUrl } = server;
    const journal = engine().journal(name);
    const client = (group = name, pending = 20) =>
      new MediaClient({
        apiKey: fake.apiKey,
        baseUrl,
        journal,
        rateLimit: { limit: 1_000, windowMs: 1_000, group: `${name} ${group}`, pending },
      });
    const saved: string[] = [];
    const save = async ({ fileId }: MediaFile) => Promise.resolve(saved.push(fileId));
    const before = fake.files.length;
    const made = () => fake.files.length - before;
    const expectCounts = (counts: Partial<JobCounts>) =>
      expect
        .poll(() => queue.makeAllDue().then(() => queue.counts()), {
          timeout: 60_000,
          interval: 200,
        })
        .toMatchObject(counts);
    return { fake, queue, client, saved, save, made, expectCounts };
  }

  it('makes jobs, saves and completes them', async () => {
    const { queue, client, saved, save, made, expectCounts } = await start();
    await queue.add(['One.', 'Two.', 'Three.'].map(speech), 1);
    await queue.work(client(), { save });
    await expectCounts({ completed: 3 });
    expect(new Set(saved).size).toBe(3);
    expect(made()).toBe(3);
  });

  it('fails a job that may have been sent, and sends it once', async () => {
    const { fake, queue, client, save, made, expectCounts } = await start();
    fake.fail(audioEndpoint, { loseAnswer: true });
    await queue.add([speech('Lost.')], 3);
    await queue.work(client(), { save });
    await expectCounts({ failed: 1 });
    expect(made()).toBe(1);
  });

  it('makes a failed file again', async () => {
    const { fake, queue, client, save, made, expectCounts } = await start();
    fake.outcome({ status: 'error' });
    await queue.add([speech('Again.')], 3);
    await queue.work(client(), { save });
    await expectCounts({ completed: 1, failed: 0 });
    expect(made()).toBe(2);
  });

  it('fails a job that no service could accept, and makes the others', async () => {
    const { queue, client, save, made, expectCounts } = await start();
    await queue.add([{} as AudioRequest, speech('Good.')], 1);
    await queue.work(client(), { save });
    await expectCounts({ completed: 1, failed: 1 });
    expect(made()).toBe(1);
  });

  it('returns running and unsent jobs at a stop; the next worker continues with them', async () => {
    const { queue, client, saved, save, made, expectCounts } = await start();
    await queue.add([speech('Long one.'), speech('Long two.')], 1 + triesOfStop);
    const stopping = new AbortController();
    const media = client('stopped', 1);
    const accepted = new Promise((resolve) => media.once('job:accepted', resolve));
    const close = await queue.work(media, { save, signal: stopping.signal });
    await accepted;
    stopping.abort();
    await close();
    expect(saved).toEqual([]);
    await expectCounts({ waiting: 2, failed: 0 });
    await queue.work(client('stopped'), { save });
    await expectCounts({ completed: 2, failed: 0 });
    expect(made()).toBe(2);
  });

  it('leaves the job of another owner to its worker', async () => {
    const { fake, queue, client, saved, save, expectCounts } = await start();
    await queue.add([speech('Long.')], 30);
    const stopping = new AbortController();
    const media = client('one');
    const accepted = new Promise((resolve) => media.once('job:accepted', resolve));
    const close = await queue.work(media, { save, signal: stopping.signal });
    await accepted;
    stopping.abort();
    await close();
    const before = fake.requests.length;
    const closeOther = await queue.work(client('other'), { save });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(fake.requests).toHaveLength(before);
    await closeOther();
    await queue.work(client('one'), { save });
    await expectCounts({ completed: 1, failed: 0 });
    expect(saved).toHaveLength(1);
  });

  describe('a worker in a separate process', () => {
    let script: Awaited<ReturnType<typeof bundleScript>>;
    beforeAll(async () => {
      script = await bundleScript('test/support/stores/engine-child.ts');
    });
    afterAll(() => script.remove());

    it.each(['SIGKILL', 'SIGTERM'] as const)(
      'ends by %s, and another worker continues with its job',
      async (signal) => {
        const { fake, queue, client, saved, save, made, expectCounts } = await start();
        await queue.add([speech('Long.')], 5);
        const { name, store } = engine();
        const child = spawn(process.execPath, [script.path, name, store, queue.name], {
          env: {
            PATH: process.env['PATH'],
            MEDIA_BASE_URL: server.mediaUrl,
            MEDIA_API_KEY: fake.apiKey,
          },
          stdio: 'inherit',
        });
        const ended = once(child, 'exit');
        // When the worker asks for the file, its journal has the id.
        const since = fake.requests.length;
        const hasAsked = () =>
          fake.requests.slice(since).some(({ endpoint }) => endpoint === statusEndpoint);
        await expect.poll(hasAsked, { timeout: 60_000, interval: 20 }).toBe(true);
        child.kill(signal);
        expect(await ended).toEqual(signal === 'SIGTERM' ? [0, null] : [null, 'SIGKILL']);
        await queue.work(client(), { save });
        await expectCounts({ completed: 1 });
        expect(saved).toHaveLength(1);
        expect(made()).toBe(1);
      },
    );
  });
}
