import { describe, expect, it } from 'vitest';
import { createFakeMedia, type FakeMedia } from 'postreel/testing';
import { audio, call, idea, speech, status, videos } from '../../support/testing/media-calls.js';

const many = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

async function speak(fake: FakeMedia, times: number, key = fake.apiKey): Promise<number[]> {
  const statuses = [];
  for (let index = 0; index < times; index += 1) {
    statuses.push((await call(fake, '/v1/generate/audio', { body: speech, key })).status);
  }
  return statuses;
}

describe('media, Limits, rate', () => {
  it('takes 10 requests per 10 minutes', async () => {
    const fake = createFakeMedia();
    expect(await speak(fake, 11)).toEqual([...many(10, 200), 429]);
    await fake.advance('599s');
    expect(await speak(fake, 1)).toEqual([429]);
    await fake.advance('1s');
    expect(await speak(fake, 11)).toEqual([...many(10, 200), 429]);
  });

  it('counts video and audio together', async () => {
    const fake = createFakeMedia();
    await speak(fake, 9);
    expect((await videos(fake, idea)).status).toBe(200);
    expect((await videos(fake, idea)).status).toBe(429);
  });

  it('counts each key on its own', async () => {
    const fake = createFakeMedia();
    fake.apiKeys.add('another');
    await speak(fake, 10);
    expect(await speak(fake, 1)).toEqual([429]);
    expect(await speak(fake, 1, 'another')).toEqual([200]);
  });

  it('says when to come back', async () => {
    const fake = createFakeMedia();
    await speak(fake, 10);
    await fake.advance('100s');
    expect((await audio(fake, speech)).headers.get('retry-after')).toBe('500');
  });

  it('does not count status calls', async () => {
    const fake = createFakeMedia();
    await videos(fake, idea);
    for (let poll = 0; poll < 50; poll += 1) {
      expect((await status(fake, 'file_000001')).status).toBe(200);
    }
    expect(await speak(fake, 9)).toEqual(many(9, 200));
  });

  it('counts status calls when told to', async () => {
    const fake = createFakeMedia({ statusCounts: true });
    await videos(fake, idea);
    for (let poll = 0; poll < 9; poll += 1) {
      await status(fake, 'file_000001');
    }
    expect((await status(fake, 'file_000001')).status).toBe(429);
    expect(await speak(fake, 1)).toEqual([429]);
  });

  it('can be changed, or taken away', async () => {
    const small = createFakeMedia({ rateLimit: { limit: 1, windowMs: 1_000, headers: 'none' } });
    expect(await speak(small, 2)).toEqual([200, 429]);
    const free = createFakeMedia({ rateLimit: false });
    expect(await speak(free, 15)).toEqual(many(15, 200));
  });
});

describe('media, Limits, pending jobs', () => {
  it('takes 20 queued or processing jobs at a time', async () => {
    const fake = createFakeMedia();
    expect((await videos(fake, ...many(20, idea))).status).toBe(200);
    expect((await videos(fake, idea)).status).toBe(429);
    expect((await audio(fake, speech)).status).toBe(429);
    await fake.advance('10s');
    expect(fake.files[0]?.status).toBe('processing');
    expect((await audio(fake, speech)).status).toBe(429);
  });

  it('refuses a request that goes over, as a whole', async () => {
    const fake = createFakeMedia();
    await videos(fake, ...many(15, idea));
    expect((await videos(fake, ...many(6, idea))).status).toBe(429);
    expect([fake.files.length, fake.folders.length]).toEqual([15, 1]);
    expect((await videos(fake, ...many(5, idea))).status).toBe(200);
  });

  it.each(['success', 'error', 'canceled'] as const)('%s frees the slot', async (state) => {
    const fake = createFakeMedia();
    fake.outcome({ status: state, after: '5s' });
    await videos(fake, ...many(20, idea));
    await fake.advance('5s');
    expect((await videos(fake, idea)).status).toBe(200);
    expect((await videos(fake, idea)).status).toBe(429);
  });

  it('can be changed', async () => {
    const fake = createFakeMedia({ pendingLimit: 1 });
    expect((await videos(fake, idea, idea)).status).toBe(429);
  });
});
