import { describe, expect, it } from 'vitest';
import { createFakeMedia } from 'postreel/testing';
import { call, idea, status, videos } from '../../support/testing/media-calls.js';

const endpoints = [
  ['POST', '/v1/generate/video'],
  ['POST', '/v1/generate/audio'],
  ['GET', '/v1/generate/status?fileId=file_000001'],
] as const;

describe('media, Authentication', () => {
  it.each(endpoints)('1 and 3: %s %s refuses a call without key', async (method, path) => {
    const fake = createFakeMedia();
    const headers = { 'content-type': 'application/json' };
    const body = method === 'POST' ? '{}' : null;
    expect((await fake.fetch(fake.baseUrl + path, { method, headers, body })).status).toBe(401);
  });

  it.each(['wrong', ''])('1: refuses the key %j', async (key) => {
    const answer = await call(createFakeMedia(), '/v1/generate/status?fileId=a', { key });
    expect(answer.status).toBe(401);
  });

  it('1: refuses a key without Bearer', async () => {
    const fake = createFakeMedia();
    const headers = { 'content-type': 'application/json', authorization: fake.apiKey };
    const response = await fake.fetch(`${fake.baseUrl}/v1/generate/status?fileId=a`, { headers });
    expect(response.status).toBe(401);
  });

  it('2: takes the keys of the account, and only while they are there', async () => {
    const fake = createFakeMedia({ apiKey: 'mine' });
    fake.apiKeys.add('another');
    const answer = () => call(fake, '/v1/generate/status?fileId=a', { key: 'another' });
    expect((await answer()).status).toBe(404);
    fake.apiKeys.delete('another');
    expect((await answer()).status).toBe(401);
  });
});

describe('media, Endpoints', () => {
  it.each(endpoints)('%s %s wants Content-Type: application/json', async (method, path) => {
    const fake = createFakeMedia();
    const headers = { authorization: `Bearer ${fake.apiKey}` };
    const response = await fake.fetch(fake.baseUrl + path, { method, headers });
    expect(response.status).toBe(400);
  });
});

describe('media, Versioning', () => {
  it('1: the paths carry the prefix /v1/', async () => {
    const fake = createFakeMedia();
    expect((await call(fake, '/generate/video', { body: { payload: [idea] } })).status).toBe(404);
    expect((await call(fake, '/v1/generate/video', { body: { payload: [idea] } })).status).toBe(
      200,
    );
  });
});

describe('reset', () => {
  it('forgets files, folders, outcomes, callbacks and counts', async () => {
    const fake = createFakeMedia();
    fake.outcome({ status: 'error' });
    await videos(fake, idea);
    fake.outcome({ status: 'error' });
    fake.brandKits.length = 0;
    fake.reset();
    expect([fake.files, fake.folders, fake.callbacks, fake.requests]).toEqual([[], [], [], []]);
    expect(fake.brandKits).toHaveLength(1);
    await videos(fake, idea);
    await fake.advance('1h');
    expect(fake.files).toMatchObject([{ status: 'success' }]);
    expect((await status(fake, 'file_000001')).status).toBe(404);
  });
});
