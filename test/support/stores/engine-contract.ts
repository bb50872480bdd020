import {
  MediaClient,
  memoryJournal,
  type AcknowledgingSource,
  type AudioRequest,
  type PostreelError,
  type SourceItem,
} from 'postreel';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

const audioEndpoint = 'POST /v1/generate/audio';
export const speech = (content: string): AudioRequest => ({ content, voiceId: 'voice_1' });

/** A `jobOf` that cannot read one payload. */
export function readOrThrow(job: AudioRequest): AudioRequest {
  if (job.content === 'poison') {
    throw new Error('poison');
  }
  return job;
}

/** What a test asks of a job engine. */
export interface Engine<Item extends SourceItem> {
  readonly source: AcknowledgingSource<Item>;
  add(jobs: readonly AudioRequest[]): Promise<void>;
  /** The jobs in the second queue. */
  unknown(): Promise<unknown[]>;
  /** How many jobs are waiting, and how many are completed. */
  counts(): Promise<{ waiting: number; completed: number }>;
}

/** What every adapter of a job engine does. */
export function engineContract<Item extends SourceItem>(open: () => Promise<Engine<Item>>): void {
  let server: FakeServer;
  beforeAll(async () => {
    const media = { durations: () => 0, queueTime: 0, rateLimit: false } as const;
    server = await startFakeServer({ media });
  });
  afterAll(() => server.close());

  it('takes jobs, completes those that are stored, and sets unknown ones aside', async () => {
    const engine = await open();
    const { media: fake, mediaUrl: baseUrl } = server;
    await engine.add(['One.', 'Two.', 'Three.'].map(speech));
    fake.fail(audioEndpoint, { loseAnswer: true, after: 2 });
    const media = new MediaClient({
      apiKey: fake.apiKey,
      baseUrl,
      journal: memoryJournal(),
      rateLimit: { limit: 1_000, windowMs: 1_000, group: crypto.randomUUID() },
    });
    const stored: string[] = [];
    const queue = media.queue(engine.source, {
      save: (file) => Promise.resolve(stored.push(file.fileId)),
    });
    let ended = 0;
    for await (const { index } of queue) {
      expect(index).toBeLessThan(3);
      if (++ended === 3) {
        queue.drain();
      }
    }
    expect(stored).toHaveLength(2);
    expect(await engine.unknown()).toHaveLength(1);
    expect(await engine.counts()).toEqual({ waiting: 0, completed: 3 });
    expect(fake.files).toHaveLength(3);
  });

  it('makes every job after six refusals in a row: none loses its tries unsent', async () => {
    const engine = await open();
    const { media: fake, mediaUrl: baseUrl } = server;
    await engine.add(Array.from({ length: 8 }, (_, index) => speech(`Text ${index}.`)));
    fake.fail(audioEndpoint, { status: 403, times: 6 });
    const media = new MediaClient({
      apiKey: fake.apiKey,
      baseUrl,
      journal: memoryJournal(),
      rateLimit: { limit: 1_000, windowMs: 1_000, group: crypto.randomUUID() },
    });
    const queue = media.queue(engine.source);
    const outcomes: unknown[] = [];
    for await (const { error } of queue) {
      outcomes.push(error === undefined ? 'made' : (error as PostreelError).outcome);
      if (outcomes.length === 14) {
        queue.drain();
      }
    }
    expect(outcomes.filter((outcome) => outcome === 'rejected')).toHaveLength(6);
    expect(outcomes.filter((outcome) => outcome === 'made')).toHaveLength(8);
    expect(await engine.counts()).toEqual({ waiting: 0, completed: 8 });
  });

  it('is named by its engine and its queue: two queues may number their jobs alike', async () => {
    const [one, other] = [await open(), await open()];
    expect(one.source.name).toMatch(/^(bullmq\/bull|pg-boss)\/videos-\d+$/);
    expect(other.source.name).not.toBe(one.source.name);
  });

  it('hands out again what failed and may be tried again', async () => {
    const engine = await open();
    const { source } = engine;
    await engine.add([speech('Again.')]);
    const [item] = (await source.take(5)) ?? [];
    expect(item?.job).toMatchObject({ content: 'Again.' });
    expect(await source.take(5)).toEqual([]);
    await source.extend?.(item!);
    await source.fail(item!, new Error('refused'), { outcome: 'not-sent' });
    const [again] = (await source.take(5)) ?? [];
    expect(again?.id).toBe(item?.id);
    await source.fail(again!, new Error('lost'), { outcome: 'unknown' });
    expect(await source.take(5)).toEqual([]);
    expect((await engine.counts()).waiting).toBe(0);
  });

  it('hands a job back without failing it, and without counting a try of it', async () => {
    const engine = await open();
    const { source } = engine;
    await engine.add([speech('Later.')]);
    for (let stop = 0; stop < 3; stop++) {
      const [item] = (await source.take(5)) ?? [];
      expect(item?.job).toMatchObject({ content: 'Later.' });
      await source.release?.(item!);
      expect((await engine.counts()).waiting).toBe(1);
    }
    const [item] = (await source.take(5)) ?? [];
    await source.fail(item!, new Error('refused'), { outcome: 'not-sent' });
    expect(await source.take(5), 'it has tries left').toHaveLength(1);
  });

  it('fails a job that cannot be read alone', async () => {
    const engine = await open();
    await engine.add([speech('poison'), speech('Good.')]);
    const items = (await engine.source.take(5)) ?? [];
    expect(items.map(({ problem }) => String(problem)).sort()).toEqual([
      'Error: poison',
      'undefined',
    ]);
  });

  it('sets a job aside once, though it crashed between the two steps and does them again', async () => {
    const engine = await open();
    const { source } = engine;
    await engine.add([speech('Unsure.')]);
    const [item] = (await source.take(5)) ?? [];
    await source.fail(item!, new Error('lost'), { outcome: 'unknown' });
    // The engine may refuse what is over by now.
    await source.fail(item!, new Error('lost'), { outcome: 'unknown' }).catch(() => undefined);
    expect(await engine.unknown()).toHaveLength(1);
  });
}
