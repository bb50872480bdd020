import { describe, expect, it } from 'vitest';
import { createFakeMedia, type FakeMediaOptions } from 'postreel/testing';
import { audio, idea, record, speech, status, videos } from '../../support/testing/media-calls.js';

describe('media, Errors 4: the body of a rejection can be chosen', () => {
  const bodyOf = async (errorShape?: FakeMediaOptions['errorShape']) => {
    const fake = createFakeMedia(errorShape === undefined ? {} : { errorShape });
    return (await videos(fake, { ...idea, brandId: 'gone' })).body;
  };
  const message = 'Brand kit not found or deleted.';

  it('message, by default', async () => {
    expect(await bodyOf()).toEqual({ success: false, message });
  });

  it('error', async () => {
    expect(await bodyOf('error')).toEqual({ error: message });
  });

  it('envelope', async () => {
    expect(await bodyOf('envelope')).toMatchObject({
      success: false,
      error: { code: 'BAD_REQUEST', message, statusCode: 400, requestId: 'req_000001' },
    });
  });

  it('html', async () => {
    expect(await bodyOf('html')).toContain(`<h1>${message}</h1>`);
  });

  it('empty', async () => {
    expect(await bodyOf('empty')).toBe('');
  });
});

describe('the shape of answers can be chosen', () => {
  const answers = async (options: FakeMediaOptions) => {
    const fake = createFakeMedia(options);
    const bodies: unknown[] = [
      (await videos(fake, idea)).body,
      (await audio(fake, speech)).body,
      (await status(fake, 'file_000001')).body,
    ];
    return bodies;
  };
  const isEnclosed = (body: unknown) => Object.keys(body ?? {}).join() === 'success,data';

  it.each([
    ['documented', [true, false, false]],
    ['always', [true, true, true]],
    ['never', [false, false, false]],
  ] as const)('envelopes: %s', async (envelopes, expected) => {
    expect((await answers({ envelopes })).map(isEnclosed)).toEqual(expected);
  });

  it('statusField: state', async () => {
    const [, , answer] = await answers({ statusField: 'state' });
    expect(answer).toEqual({ fileId: 'file_000001', state: 'queued', progress: 0 });
  });

  it.each([
    ['percent', 50],
    ['fraction', 0.5],
    ['none', undefined],
  ] as const)('progress: %s', async (progress, half) => {
    const fake = createFakeMedia({ progress, queueTime: 0, durations: () => '1m' });
    await videos(fake, idea);
    await fake.advance('30s');
    expect((await record(fake)).progress).toBe(half);
  });

  it('keepFor: a finished file is gone when asked for late', async () => {
    const fake = createFakeMedia({ keepFor: '5m', durations: () => '1m' });
    await videos(fake, idea);
    await fake.advance('6m');
    expect((await status(fake, 'file_000001')).body).toMatchObject({ status: 'success' });
    await fake.advance('1s');
    expect((await status(fake, 'file_000001')).status).toBe(404);
  });
});
