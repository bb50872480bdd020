import { memoryJournal, type MediaOptions, type VideoJob } from 'postreel';
import { describe, expect, it } from 'vitest';
import { collect, videos } from '../../../support/media/queue-helpers.js';
import {
  fakeService,
  inTime,
  useFakeTime,
  video,
  videoEndpoint,
} from '../../../support/media/fake-time.js';

useFakeTime();

/** A service that makes one job of a call after another, and stops at the first that it refuses. */
function loop(more: Parameters<typeof fakeService>[0] = {}) {
  return fakeService({ behavior: { batch: 'loop' }, maxExportMinutes: 5, ...more });
}

/** How often each prompt was billed. */
const billed = (fake: ReturnType<typeof loop>['fake']) => {
  const prompts = fake.files.map(({ settings }) => String(settings.prompt));
  return prompts.filter((prompt, index) => prompts.indexOf(prompt) !== index);
};

const outcomes = (results: readonly { error?: unknown }[]) =>
  results.map(({ error }) => (error as { outcome?: string } | undefined)?.outcome ?? 'file');

describe('a call of several jobs that is refused after some of them were made', () => {
  it('bills none of them twice: jobs that may have been made end as unknown', async () => {
    const { fake, media } = loop();
    const fetch = refusing(fake, 'prompt":"5"');
    const results = await inTime(collect(media({ fetch }).queue(videos(8))));
    expect(billed(fake)).toEqual([]);
    // The first went alone: nothing of the kind had been accepted before.
    expect(outcomes(results)).toEqual(['file', ...Array<string>(7).fill('unknown')]);
    expect(results.at(-1)!.error).toMatchObject({ status: 400 });
    expect(String(results.at(-1)!.error)).toContain('Not allowed.');
  });

  it.each([400, 402, 403, 409])('with %i is never repeated', async (status) => {
    const { fake, media } = loop({ behavior: { batch: 'loop', capStatus: status as 429 } });
    // Another program of the account has some of the slots.
    await inTime(
      media({ rateLimit: false, apiKey: otherKey(fake) }).generate.video({
        payload: videos(15).map(other),
      }),
    );
    const results = await inTime(collect(media().queue(videos(30))));
    expect(billed(fake)).toEqual([]);
    expect(results).toHaveLength(30);
    expect(outcomes(results).filter((outcome) => outcome === 'rejected')).toEqual([]);
  });

  it('stays unknown in the journal: another run of the queue does not submit its jobs', async () => {
    const { fake, media } = loop();
    const journal = memoryJournal();
    const fetch = refusing(fake, 'prompt":"5"');
    const run = (more: MediaOptions) =>
      inTime(collect(media({ journal, ...more }).queue(videos(9), { name: 'nightly' })));
    await run({ fetch });
    const made = fake.files.length;
    const again = await run({});
    expect(fake.files).toHaveLength(made);
    expect(outcomes(again)).toEqual(['file', ...Array<string>(8).fill('unknown')]);
    expect(billed(fake)).toEqual([]);
  });
});

describe('jobs that the service may refuse', () => {
  it('are sent in separate calls: the first job with a brand kit, and the first of a greater length', async () => {
    const { fake, media } = loop();
    const brandId = 'brand_000001';
    const input = videos(12).map((job, index) =>
      index % 3 === 0 ? { ...job, brandId } : index === 7 ? { ...job, duration: 9 } : job,
    );
    const results = await inTime(collect(media().queue(input)));
    expect(outcomes(results).map((outcome, index) => outcome === 'file' || index)).toEqual(
      input.map((_, index) => index !== 7 || 7),
    );
    expect(outcomes(results)[7]).toBe('rejected');
    expect(sizes(fake).slice(0, 2)).toEqual([1, 1]);
    expect(billed(fake)).toEqual([]);
  });

  it('that are refused in a separate call fail alone', async () => {
    const { fake, media } = loop();
    const input = videos(12).map((job, index) => (index % 3 ? job : { ...job, brandId: 'x' }));
    const results = await inTime(collect(media().queue(input)));
    expect(outcomes(results)).toEqual(input.map((_, index) => (index % 3 ? 'file' : 'rejected')));
    expect(billed(fake)).toEqual([]);
  });

  it('with a brand kit never share a call with those without one', async () => {
    const { fake, media } = fakeService();
    const kitOf = ({ brandId = 'none' }: VideoJob) => brandId;
    const input = videos(16).map((job, index) =>
      index % 2 ? job : { ...job, brandId: 'brand_000001' },
    );
    await inTime(collect(media().queue(input)));
    for (const kits of payloads(fake).map((payload) => new Set(payload.map((job) => kitOf(job))))) {
      expect(kits.size).toBe(1);
    }
    expect(Math.max(...sizes(fake))).toBe(8);
  });

  it("are sent in separate calls: the caller's pictures, and articles", async () => {
    const { fake, media } = fakeService();
    const article = { workflowType: 'url', content: 'https://example.com/a', prompt: undefined };
    const pictures = { mediaUrls: ['https://example.com/a.png'] };
    const input = [...videos(3), ...[article, article, pictures, pictures].map(video as never)];
    await inTime(collect(media().queue(input as VideoJob[])));
    expect(sizes(fake).sort()).toEqual([1, 1, 1, 1, 1, 2]);
  });

  it('cost no time: the next call is sent at once', async () => {
    const { fake, media } = fakeService();
    const input = videos(20).map((job) => ({ ...job, duration: 3 }));
    await inTime(collect(media().queue(input)));
    const [first, second] = fake.requests.filter(({ endpoint }) => endpoint === videoEndpoint);
    expect(sizes(fake)).toEqual([1, 19]);
    expect(second!.at - first!.at).toBeLessThan(1_000);
  });
});

function payloads(fake: ReturnType<typeof loop>['fake']): VideoJob[][] {
  return fake.requests
    .filter(({ endpoint }) => endpoint === videoEndpoint)
    .map(({ body }) => (body as { payload: VideoJob[] }).payload);
}

function sizes(fake: ReturnType<typeof loop>['fake']): number[] {
  return payloads(fake).map(({ length }) => length);
}

function otherKey(fake: ReturnType<typeof loop>['fake']): string {
  fake.apiKeys.add('media_key_other');
  return 'media_key_other';
}

const other = (job: ReturnType<typeof video>) => ({
  ...job,
  prompt: `other ${String(job.prompt)}`,
});

/** A service that makes the jobs before the one with these words, and refuses the call at it. */
function refusing(fake: ReturnType<typeof loop>['fake'], words: string): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const text = request.method === 'POST' ? await request.clone().text() : '';
    if (!text.includes(words)) {
      return fake.fetch(request);
    }
    const { payload, ...rest } = JSON.parse(text) as { payload: unknown[] };
    const before = payload.findIndex((job) => JSON.stringify(job).includes(words));
    if (before > 0) {
      const body = JSON.stringify({ ...rest, payload: payload.slice(0, before) });
      await fake.fetch(new Request(request, { body }));
    }
    return Response.json({ success: false, message: 'Not allowed.' }, { status: 400 });
  };
}
