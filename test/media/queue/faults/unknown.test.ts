import { memoryJournal } from 'postreel';
import { expect, it } from 'vitest';
import { ListSource } from '../../../support/media/list-source.js';
import { collect, videos } from '../../../support/media/queue-helpers.js';
import {
  fakeService,
  inTime,
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

it('reads `undefined` as left out: a job that is delivered again is still the same job', async () => {
  const { fake, media } = fakeService();
  const journal = memoryJournal();
  for (const source of [new ListSource(videos(2)), new ListSource(videos(2))]) {
    await inTime(collect(media({ journal }).queue(source, { name: undefined })));
    expect(source.told.every((line) => / done file_/.test(line))).toBe(true);
  }
  expect(fake.requests.filter(({ endpoint }) => endpoint === videoEndpoint)).toHaveLength(1);
});
