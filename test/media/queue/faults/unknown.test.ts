import type { QueueResult } from 'postreel';
import { describe, expect, it } from 'vitest';
import { calls, collect, videos } from '../../../support/media/queue-helpers.js';
import {
  audioEndpoint,
  ending,
  fakeService,
  inTime,
  speech,
  useFakeTime,
  videoEndpoint,
} from '../../../support/media/fake-time.js';

useFakeTime();

/** A fake whose first video call is taken and answered like this. */
function takenButAnswered(answer: () => Response) {
  const { fake, media } = fakeService();
  let calls = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await fake.fetch(new Request(input, init));
    const isCall = new Request(input, init).method === 'POST';
    return isCall && ++calls === 1 ? answer() : response;
  };
  return { fake, media: () => media({ fetch }) };
}

it.each([
  ['500 that repeats a prompt about a full queue', 500, 'Why the queue is full of people'],
  ['503 with the words of a full queue', 503, 'Too many pending jobs'],
  ['408 with the words of a full queue', 408, 'pending job limit'],
])('jobs that are answered %s are not submitted again', async (_, status, message) => {
  const { fake, media } = takenButAnswered(() =>
    Response.json({ success: false, message }, { status }),
  );
  const results = await inTime(collect(media().queue(videos(3))));
  expect(results.map(({ error }) => (error as { outcome: string }).outcome)).toEqual([
    'unknown',
    'unknown',
    'unknown',
  ]);
  expect(fake.files).toHaveLength(3);
});

it("waits for a slot after the document's own words of a full account", async () => {
  const { fake, media } = fakeService();
  let refusals = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.method === 'POST' && refusals++ === 0) {
      const message = 'At most 20 jobs may be queued or processing at one time.';
      return Response.json({ success: false, message }, { status: 400 });
    }
    return fake.fetch(request);
  };
  const results = await inTime(collect(media({ fetch }).queue(videos(1))));
  expect(results[0]!.error).toBeUndefined();
  expect(fake.files).toHaveLength(1);
});

describe('two calls in a row whose answers are lost', () => {
  /** A service whose first video calls are answered with 500 by a gateway, though the jobs are made. */
  function losing(lost: number, more: Parameters<typeof fakeService>[0] = {}) {
    const { fake, media } = fakeService({ durations: () => '1m', ...more });
    fake.fail(videoEndpoint, { loseAnswer: true, times: lost });
    const client = media();
    const warnings: { code?: string | undefined; message: string }[] = [];
    client.on('warning', (warning) => warnings.push(warning));
    return { fake, client, warnings };
  }

  it('are the last ones: the queue ends after ten minutes, and says why', async () => {
    const { fake, client, warnings } = losing(9);
    const results: QueueResult[] = [];
    const read = async () => {
      for await (const result of client.queue(videos(60))) {
        results.push(result);
      }
    };
    const startedAt = Date.now();
    const { error } = await inTime(ending(read()));
    expect(error).toMatchObject({ name: 'PostreelError', code: 'UNKNOWN_OUTCOMES' });
    expect(calls(fake)).toBe(2);
    expect(results.map(({ error }) => (error as { outcome: string }).outcome)).toEqual(
      Array<string>(25).fill('unknown'),
    );
    expect(warnings).toMatchObject([{ code: 'UNKNOWN_OUTCOMES' }]);
    expect(warnings[0]!.message).toContain('Nothing more is submitted until `queue.resume()`');
    expect(Date.now() - startedAt).toBeGreaterThan(10 * 60_000);
  });

  it('let the queue go on after `resume()`', async () => {
    const { fake, client } = losing(2);
    const queue = client.queue(videos(30));
    client.on('warning', ({ code }) => {
      if (code === 'UNKNOWN_OUTCOMES') {
        setTimeout(() => queue.resume(), 60_000);
      }
    });
    const results = await inTime(collect(queue));
    expect(results).toHaveLength(30);
    expect(results.filter(({ file }) => file)).toHaveLength(5);
    expect(fake.files).toHaveLength(30);
  });

  it('let jobs in progress finish before the queue rejects', async () => {
    const { fake, client } = losing(0, { durations: () => '40m' });
    const results: QueueResult[] = [];
    const read = async () => {
      const own = client.queue([...videos(2), ...Array.from({ length: 20 }, () => speech())], {
        unknownTimeout: 60_000,
      });
      for await (const result of own) {
        results.push(result);
      }
    };
    fake.fail(audioEndpoint, { loseAnswer: true, times: 2 });
    const { error } = await inTime(ending(read()));
    expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOMES' });
    expect(results.filter(({ file }) => file)).toHaveLength(2);
  });

  it('are not in a row when an answer comes between them', async () => {
    const { fake, client, warnings } = losing(0);
    const texts = Array.from({ length: 6 }, () => speech());
    fake.fail(audioEndpoint, { loseAnswer: true, times: 1 });
    fake.fail(audioEndpoint, { loseAnswer: true, times: 1, after: 2 });
    const results = await inTime(collect(client.queue(texts)));
    expect(results.filter(({ error }) => error)).toHaveLength(2);
    expect(warnings).toEqual([]);
  });
});
