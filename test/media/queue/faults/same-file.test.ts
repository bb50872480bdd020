import { memoryJournal, pendingJobs, type MediaFile } from 'postreel';
import { describe, expect, it } from 'vitest';
import { collect } from '../../../support/media/queue-helpers.js';
import { fakeService, inTime, speech, useFakeTime } from '../../../support/media/fake-time.js';

useFakeTime();

/** A service that answers an equal text with the file that it has. */
function deduplicating() {
  const { fake, media } = fakeService({ durations: () => '1m' });
  const known = new Map<string, string>();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const text = request.method === 'POST' ? await request.clone().text() : '';
    const fileId = known.get(text);
    if (fileId !== undefined) {
      return Response.json({ fileId });
    }
    const response = await fake.fetch(request);
    if (text !== '') {
      known.set(text, ((await response.clone().json()) as { fileId: string }).fileId);
    }
    return response;
  };
  const journal = memoryJournal();
  return { fake, journal, client: media({ fetch, journal }) };
}

const equal = [speech(), speech({ content: 'Good night!' }), speech()];

describe('two jobs of a queue with one file', () => {
  it.each([{}, { name: 'news' }])('each get it, and end once: %j', async (options) => {
    const { fake, client, journal } = deduplicating();
    const results = await inTime(collect(client.queue(equal, options)));
    expect(fake.files).toHaveLength(2);
    const [first, , third] = results.map(({ file }) => file?.fileId);
    expect(results.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(first).toBe(fake.files[0]!.fileId);
    expect(third).toBe(first);
    expect(await pendingJobs(journal)).toEqual({ jobs: [], finished: [], unknown: [] });
  });

  it('are each saved, under their own places', async () => {
    const { client } = deduplicating();
    const saved: [number, string][] = [];
    const save = (file: MediaFile, { index }: { index: number }) => {
      saved.push([index, file.fileId]);
      return Promise.resolve();
    };
    await inTime(collect(client.queue(equal, { name: 'news', save })));
    expect(saved.map(([index]) => index).sort()).toEqual([0, 1, 2]);
  });

  it('are saved again each by itself after a crash between the two', async () => {
    const { client } = deduplicating();
    const saved: number[] = [];
    const save = (_: MediaFile, { index }: { index: number }) => {
      if (index === 2 && saved.filter((one) => one === 2).length === 0) {
        saved.push(index);
        return Promise.reject(new Error('disk full'));
      }
      saved.push(index);
      return Promise.resolve();
    };
    const run = () => inTime(collect(client.queue(equal, { name: 'news', save })));
    const before = await run();
    expect(before.map(({ error }) => error !== undefined)).toEqual([false, false, true]);
    saved.splice(0, saved.length, 2);
    const after = await run();
    expect(after.every(({ file }) => file)).toBe(true);
    expect(saved).toEqual([2, 2]);
  });
});
