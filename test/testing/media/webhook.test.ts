import { afterEach, describe, expect, it, vi } from 'vitest';
import { createFakeMedia } from 'postreel/testing';
import { audio, idea, speech, videos } from '../../support/testing/media-calls.js';

afterEach(() => vi.unstubAllGlobals());

const webhook = 'https://shop.example/done';

function receiving(answer: () => Response = () => new Response('ok')) {
  const callback = vi.fn<typeof fetch>(() => Promise.resolve(answer()));
  const fake = createFakeMedia({ callback, clock: { start: 0 } });
  return { fake, callback };
}

describe('media, Events, audio webhook', () => {
  it('success: a POST with the file id and the CDN URL', async () => {
    const { fake, callback } = receiving();
    await audio(fake, { ...speech, webhook });
    await fake.advance('1m');
    const body = {
      success: true,
      data: { id: 'file_000001', file: `${fake.cdnUrl}/file_000001.mp3` },
    };
    expect(callback).toHaveBeenCalledOnce();
    const [url, init] = callback.mock.calls[0]!;
    expect(url).toBe(webhook);
    expect(init).toMatchObject({
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(fake.callbacks).toMatchObject([{ fileId: 'file_000001', url: webhook, body }]);
  });

  it.each(['error', 'canceled'] as const)('failure (%s): the file id alone', async (state) => {
    const { fake } = receiving();
    fake.outcome({ status: state });
    await audio(fake, { ...speech, webhook });
    await fake.advance('1m');
    expect(fake.callbacks[0]?.body).toEqual({ success: false, data: { id: 'file_000001' } });
  });

  it('is sent when the job finishes, not before', async () => {
    const { fake, callback } = receiving();
    fake.outcome({ after: '30s' });
    await audio(fake, { ...speech, webhook });
    await fake.advance('29s');
    expect(callback).not.toHaveBeenCalled();
    await fake.advance('1s');
    expect(fake.callbacks[0]).toMatchObject({ at: 30_000, status: 200, error: undefined });
  });

  it('is not sent without webhook', async () => {
    const { fake, callback } = receiving();
    await audio(fake, speech);
    await fake.advance('1m');
    expect(callback).not.toHaveBeenCalled();
  });

  it('the video request has no webhook field', async () => {
    const { fake, callback } = receiving();
    await videos(fake, { ...idea, webhook });
    await fake.advance('1h');
    expect(callback).not.toHaveBeenCalled();
  });

  it('a refused delivery is not repeated', async () => {
    const { fake, callback } = receiving(() => new Response('', { status: 500 }));
    await audio(fake, { ...speech, webhook });
    await fake.advance('1d');
    expect(callback).toHaveBeenCalledOnce();
    expect(fake.callbacks).toMatchObject([{ status: 500 }]);
  });

  it('records why a receiver was not reached', async () => {
    const { fake } = receiving(() => {
      throw new TypeError('fetch failed');
    });
    await audio(fake, { ...speech, webhook });
    await fake.advance('1m');
    expect(fake.callbacks[0]?.status).toBeUndefined();
    expect(fake.callbacks[0]?.error).toBeInstanceOf(TypeError);
  });

  it('goes through the global fetch unless told otherwise', async () => {
    const global = vi.fn(() => Promise.resolve(new Response()));
    vi.stubGlobal('fetch', global);
    const fake = createFakeMedia();
    await audio(fake, { ...speech, webhook });
    await fake.advance('1m');
    expect(global).toHaveBeenCalledOnce();
  });
});
