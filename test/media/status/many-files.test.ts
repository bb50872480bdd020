import { describe, expect, it } from 'vitest';
import {
  ending,
  fakeService,
  inTime,
  pass,
  useFakeTime,
  video,
} from '../../support/media/fake-time.js';

useFakeTime();

/** Three files: ready after 30 s, failed after 60 s, ready after 90 s. */
async function threeFiles() {
  const { fake, media } = fakeService();
  fake.outcome({ after: '30s' });
  fake.outcome({ after: '60s', status: 'error' });
  fake.outcome({ after: '90s' });
  const client = media();
  const jobs = await inTime(client.generate.video({ payload: [video(), video(), video()] }));
  return { fake, client, ids: jobs.map(({ fileId }) => fileId) };
}

describe('waitForFiles', () => {
  it('resolves to all results in order, failures included', async () => {
    const { client, ids } = await threeFiles();
    const results = await inTime(client.waitForFiles(ids));
    expect(results.map(({ fileId }) => fileId)).toEqual(ids);
    expect(results.map(({ file }) => file?.fileId)).toEqual([ids[0], undefined, ids[2]]);
    expect(results[1]!.error).toMatchObject({ name: 'GenerationFailedError', fileId: ids[1] });
  });

  it('resolves to the first file with "any"', async () => {
    const { client, ids } = await threeFiles();
    const startedAt = Date.now();
    const file = await inTime(client.waitForFiles(ids.toReversed(), { settle: 'any' }));
    expect(file.fileId).toBe(ids[0]);
    expect(Date.now() - startedAt).toBeLessThan(50_000);
  });

  it('rejects with all errors when no file is finished', async () => {
    const { fake, media } = fakeService();
    fake.outcome({ status: 'error', times: 2 });
    const client = media();
    const jobs = await inTime(client.generate.video({ payload: [video(), video()] }));
    const ids = jobs.map(({ fileId }) => fileId);
    const { error } = await inTime(ending(client.waitForFiles(ids, { settle: 'any' })));
    expect(error).toBeInstanceOf(AggregateError);
    expect((error as AggregateError).errors).toMatchObject([
      { name: 'GenerationFailedError', fileId: ids[0] },
      { name: 'GenerationFailedError', fileId: ids[1] },
    ]);
  });

  it('rejects with the first error with "first-error"', async () => {
    const { client, ids } = await threeFiles();
    const startedAt = Date.now();
    const { error } = await inTime(ending(client.waitForFiles(ids, { settle: 'first-error' })));
    expect(error).toMatchObject({ name: 'GenerationFailedError', fileId: ids[1] });
    expect(Date.now() - startedAt).toBeLessThan(85_000);
  });

  it('resolves to all files when there is no error', async () => {
    const { client, ids } = await threeFiles();
    const good = [ids[2]!, ids[0]!];
    const files = await inTime(client.waitForFiles(good, { settle: 'first-error' }));
    expect(files.map(({ fileId }) => fileId)).toEqual(good);
  });

  it.each(['any', 'first-error'] as const)(
    'stops checking the others when "%s" has settled',
    async (settle) => {
      const { fake, client, ids } = await threeFiles();
      await inTime(ending(client.waitForFiles(ids, { settle } as { settle: 'any' })));
      const looks = fake.requests.length;
      await pass(300_000);
      expect(fake.requests).toHaveLength(looks);
    },
  );

  it.each(['all', 'any', 'first-error'] as const)(
    'with "%s" ends at once with the reason of an abort',
    async (settle) => {
      const { client, ids } = await threeFiles();
      const controller = new AbortController();
      const { signal } = controller;
      const wait = ending(client.waitForFiles(ids, { settle, signal } as { settle: 'any' }));
      await pass(12_000);
      const startedAt = Date.now();
      controller.abort('enough');
      expect((await wait).error).toBe('enough');
      expect(Date.now()).toBe(startedAt);
    },
  );

  it('resolves to an empty list for an empty list', async () => {
    const { client } = await threeFiles();
    expect(await client.waitForFiles([])).toEqual([]);
  });

  it('passes the options to each wait', async () => {
    const { client, ids } = await threeFiles();
    const seen = new Set<string>();
    const results = await inTime(
      client.waitForFiles(ids, { timeout: 45_000, onUpdate: ({ fileId }) => seen.add(fileId) }),
    );
    expect([...seen].sort()).toEqual(ids);
    expect(results.map(({ error }) => (error as Error | undefined)?.name)).toEqual([
      undefined,
      'WaitTimeoutError',
      'WaitTimeoutError',
    ]);
  });
});
