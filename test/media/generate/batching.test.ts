import { describe, expect, it } from 'vitest';
import {
  ending,
  fakeService,
  inTime,
  useFakeTime,
  video,
  videoEndpoint,
} from '../../support/media/fake-time.js';

useFakeTime();

/** A service and a client that merges, and what its video calls carried. */
function merging(options: Parameters<typeof fakeService>[0] = {}) {
  const service = fakeService(options);
  const { fake } = service;
  const sizes = () =>
    fake.requests
      .filter(({ endpoint }) => endpoint === videoEndpoint)
      .map(({ body }) => (body as { payload: unknown[] }).payload.length);
  return { ...service, sizes, generate: service.media({ coalesce: true }).generate };
}

describe('calls of generate.video in one tick', () => {
  it('become one request, and each gets its own jobs', async () => {
    const { fake, generate, sizes } = merging();
    const calls = [
      generate.video({ payload: [video({ fileName: 'a' })] }),
      generate.video({ payload: [video({ fileName: 'b' }), video({ fileName: 'c' })] }),
      generate.video({ payload: [video({ fileName: 'd' })] }),
    ];
    const jobs = await inTime(Promise.all(calls));
    expect(sizes()).toEqual([4]);
    const names = jobs.map((own) =>
      own.map(({ fileId }) => fake.files.find((file) => file.fileId === fileId)!.name),
    );
    expect(names).toEqual([['a'], ['b', 'c'], ['d']]);
  });

  it('stay apart in different folders', async () => {
    const { fake, generate, sizes } = merging();
    fake.folders.push({ folderId: 'folder_x', name: 'X' });
    const bodies = [{}, { file: 'Cats' }, { folderId: 'folder_x' }, { file: 'Cats' }];
    const calls = bodies.map((body) => generate.video({ ...body, payload: [video()] }));
    await inTime(Promise.all(calls));
    expect(sizes()).toEqual([1, 2, 1]);
  });

  it('stay apart with different brand kits, which apply to a whole request', async () => {
    const { fake, generate } = merging();
    const calls = [
      generate.video({ payload: [video({ fileName: 'plain' })] }),
      generate.video({ payload: [video({ fileName: 'branded', brandId: 'brand_000001' })] }),
    ];
    await inTime(Promise.all(calls));
    const branded = fake.files.filter(({ brand }) => brand !== undefined);
    expect(branded.map(({ name }) => name)).toEqual(['branded']);
  });

  it('never make a request that the service could not take', async () => {
    const { generate, sizes, fake } = merging();
    const calls = Array.from({ length: 20 }, () => generate.video({ payload: [video()] }));
    await inTime(Promise.all(calls));
    expect(sizes()).toEqual([20]);
    await fake.advance('1h');
    const more = Array.from({ length: 9 }, () =>
      generate.video({ payload: [video(), video(), video()] }),
    );
    await inTime(Promise.all(more.map((call) => ending(call))));
    expect(Math.max(...sizes())).toBeLessThanOrEqual(20);
  });

  it('in the next tick become another request', async () => {
    const { generate, sizes } = merging();
    await inTime(generate.video({ payload: [video()] }));
    await inTime(generate.video({ payload: [video()] }));
    expect(sizes()).toEqual([1, 1]);
  });

  it('with options of their own are not merged', async () => {
    const { generate, sizes } = merging();
    const { signal } = new AbortController();
    const calls = [
      generate.video({ payload: [video()] }, { signal }),
      generate.video({ payload: [video()] }),
    ];
    await inTime(Promise.all(calls));
    expect(sizes()).toEqual([1, 1]);
  });

  it.each([undefined, null, {}, { payload: null }, { payload: 'x' }, { payload: [null] }])(
    'are refused by name when they are no list of videos: %j',
    async (body) => {
      const { generate, fake } = merging();
      const { error } = await inTime(ending(generate.video(body as never)));
      expect(error).toMatchObject({ name: 'InvalidRequestError', outcome: 'not-sent' });
      expect(fake.requests).toEqual([]);
    },
  );

  it('are not merged unless the client is told to', async () => {
    const { media, sizes } = merging();
    const client = media();
    await inTime(Promise.all([1, 2].map(() => client.generate.video({ payload: [video()] }))));
    expect(sizes()).toEqual([1, 1]);
  });
});

describe('one of them that is at fault', () => {
  it('for a broken rule fails alone', async () => {
    const { generate, fake, sizes } = merging();
    const calls = [
      generate.video({ payload: [video({ fileName: 'a' })] }),
      generate.video({ payload: [video({ duration: 99 })] }),
      generate.video({ payload: [video({ fileName: 'c' })] }),
    ];
    const ends = await inTime(Promise.all(calls.map((call) => ending(call))));
    expect(ends.map(({ value }) => value?.length)).toEqual([1, undefined, 1]);
    expect(ends[1]!.error).toMatchObject({
      name: 'InvalidRequestError',
      fieldErrors: [{ field: 'payload[0].duration' }],
    });
    expect(fake.files).toHaveLength(2);
    expect(sizes()).toEqual([1, 1]);
  });

  it('for what only the service knows leaves all unknown: the others may have been made', async () => {
    const { generate, fake } = merging({ maxExportMinutes: 5 });
    const calls = [
      generate.video({ payload: [video()] }),
      generate.video({ payload: [video({ duration: 9 })] }),
    ];
    const ends = await inTime(Promise.all(calls.map((call) => ending(call))));
    for (const { error } of ends) {
      expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', outcome: 'unknown', status: 400 });
    }
    expect(fake.files).toHaveLength(0);
  });

  it('with an unknown outcome fails all, and nothing is sent again', async () => {
    const { generate, fake, sizes } = merging();
    fake.fail(videoEndpoint, { loseAnswer: true });
    const calls = [1, 2].map(() => generate.video({ payload: [video()] }));
    const ends = await inTime(Promise.all(calls.map((call) => ending(call))));
    for (const { error } of ends) {
      expect(error).toMatchObject({ outcome: 'unknown' });
    }
    expect(sizes()).toEqual([2]);
    expect(calls.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown']);
  });
});
