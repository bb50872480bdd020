import { PartialError, type PostreelError, type QueueResult } from 'postreel';
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
])('jobs whose response is %s are not submitted again', async (_, status, message) => {
  const { fake, media } = takenButAnswered(() =>
    Response.json({ success: false, message }, { status }),
  );
  const [result] = await inTime(collect(media().queue(videos(1))));
  expect(result!.error).toMatchObject({ outcome: 'unknown', status });
  expect(fake.files).toHaveLength(1);
});

it('waits for a slot after the error text that the document gives for a full account', async () => {
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

describe('two calls in a row whose responses are lost', () => {
  /** A service whose first video calls are answered with 500 by a gateway, though the jobs are made. */
  function losing(lost: number, more: Parameters<typeof fakeService>[0] = {}) {
    const { fake, media } = fakeService({ durations: () => '1m', ...more });
    fake.fail(videoEndpoint, { loseAnswer: true, times: lost });
    const client = media();
    const warnings: { code?: string | undefined; message: string }[] = [];
    client.on('warning', (warning) => warnings.push(warning));
    return { fake, client, warnings };
  }

  it('end the queue, with an error that has the reason and the progress', async () => {
    const { fake, client, warnings } = losing(9);
    const results: QueueResult[] = [];
    const read = async () => {
      for await (const result of client.queue(videos(60))) {
        results.push(result);
      }
    };
    const { error } = await inTime(ending(read()));
    expect(error).toBeInstanceOf(PartialError);
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', cause: { outcome: 'unknown' } });
    expect(calls(fake)).toBe(2);
    const unknown = results.filter(({ error }) => (error as PostreelError).outcome === 'unknown');
    expect(unknown).toHaveLength(results.length);
    const { result } = error as PartialError;
    expect(result).toMatchObject({ done: 0, failed: [], notReached: 58, resumeFrom: 2 });
    expect(result.unknown.map(({ index }) => index)).toEqual([0, 1]);
    expect(fake.files.length).toBe(results.length);
    expect(warnings).toMatchObject([{ code: 'UNKNOWN_OUTCOMES' }]);
    expect(warnings[0]!.message).toContain('The queue submits nothing more until `queue.resume()`');
  });

  it('let the queue continue after `resume()`', async () => {
    const { fake, client } = losing(2);
    const queue = client.queue(videos(30));
    const results: QueueResult[] = [];
    const read = async () => {
      for await (const result of queue) {
        results.push(result);
        if (results.length === 2) {
          queue.resume();
        }
      }
    };
    await inTime(read());
    expect(results).toHaveLength(30);
    expect(results.filter(({ error }) => error)).toHaveLength(2);
    expect(fake.files).toHaveLength(30);
  });

  it('let jobs in progress finish before the queue rejects', async () => {
    const { fake, client } = losing(0, { durations: () => '5m' });
    const results: QueueResult[] = [];
    const read = async () => {
      const own = client.queue(
        (async function* () {
          yield* videos(1);
          await new Promise((resolve) => setTimeout(resolve, 5_000));
          yield* Array.from({ length: 20 }, () => speech());
        })(),
      );
      for await (const result of own) {
        results.push(result);
      }
    };
    fake.fail(audioEndpoint, { loseAnswer: true, times: 2, after: 1 });
    const { error } = await inTime(ending(read()));
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(results.filter(({ file }) => file)).toHaveLength(2);
    expect(results.at(-1)!.file).toBeDefined();
  });

  it('do not end the queue when a response arrives between them', async () => {
    const { fake, client, warnings } = losing(0);
    const texts = Array.from({ length: 6 }, () => speech());
    fake.fail(audioEndpoint, { loseAnswer: true, times: 1 });
    fake.fail(audioEndpoint, { loseAnswer: true, times: 1, after: 2 });
    const results = await inTime(collect(client.queue(texts)));
    expect(results.filter(({ error }) => error)).toHaveLength(2);
    expect(warnings).toEqual([]);
  });
});
