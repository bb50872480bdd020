import { describe, expect, it } from 'vitest';
import { createFakeMedia } from 'postreel/testing';
import { audio, call, idea, speech, status, videos } from '../../support/testing/media-calls.js';

describe('media, GET /v1/generate/status', () => {
  it('fileId is required', async () => {
    const fake = createFakeMedia();
    expect((await call(fake, '/v1/generate/status')).status).toBe(400);
    expect((await status(fake, '')).status).toBe(400);
  });

  it('a file that does not exist is 404', async () => {
    expect((await status(createFakeMedia(), 'file_x')).status).toBe(404);
  });

  it('takes a file id from either generation call', async () => {
    const fake = createFakeMedia();
    await videos(fake, idea);
    await audio(fake, speech);
    for (const { fileId } of fake.files) {
      expect((await status(fake, fileId)).body).toMatchObject({ fileId });
    }
  });

  it('answers the record without envelope', async () => {
    const fake = createFakeMedia({ durations: () => '1m', queueTime: '10s' });
    await videos(fake, idea);
    expect((await status(fake, 'file_000001')).body).toEqual({
      fileId: 'file_000001',
      status: 'queued',
      progress: 0,
    });
  });
});

describe('media, States and transitions', () => {
  const start = async () => {
    const fake = createFakeMedia({ durations: () => '110s', queueTime: '10s' });
    await videos(fake, idea);
    return fake;
  };
  const after = async (time: string) => {
    const fake = await start();
    await fake.advance(time);
    return (await status(fake, 'file_000001')).body;
  };

  it('queued: accepted, waiting', async () => {
    expect(await after('9s')).toMatchObject({ status: 'queued', progress: 0 });
  });

  it('processing: running, with progress', async () => {
    expect(await after('10s')).toMatchObject({ status: 'processing', progress: 0 });
    expect(await after('60s')).toMatchObject({ status: 'processing', progress: 50 });
    expect(await after('109s')).toMatchObject({ status: 'processing', progress: 99 });
  });

  it('success: finished, with download', async () => {
    const fake = await start();
    await fake.advance('110s');
    expect((await status(fake, 'file_000001')).body).toEqual({
      fileId: 'file_000001',
      status: 'success',
      progress: 100,
      download: `${fake.cdnUrl}/file_000001.mp4`,
    });
  });

  it('error: failed, without download', async () => {
    const fake = await start();
    fake.outcome({ status: 'error', after: '30s' });
    await videos(fake, idea);
    await fake.advance('30s');
    const record = (await status(fake, 'file_000002')).body;
    expect(record).toMatchObject({ status: 'error' });
    expect(record).not.toHaveProperty('download');
  });

  it('canceled: canceled, without download', async () => {
    const fake = await start();
    fake.outcome({ status: 'canceled', after: '30s' });
    await videos(fake, idea);
    await fake.advance('30s');
    const record = (await status(fake, 'file_000002')).body;
    expect(record).toMatchObject({ status: 'canceled' });
    expect(record).not.toHaveProperty('download');
  });

  it.each([
    ['video', 'mov', { ...idea, extension: 'mov' }],
    ['audio', 'wav', { ...speech, format: 'wav' }],
  ])(
    'the download of %s has the extension that was asked for: %s',
    async (kind, extension, job) => {
      const fake = createFakeMedia();
      await (kind === 'video' ? videos(fake, job) : audio(fake, job));
      await fake.advance('1h');
      expect(fake.files[0]?.download).toBe(`${fake.cdnUrl}/file_000001.${extension}`);
    },
  );
});

describe('the durations of jobs', () => {
  it('are minutes for videos and seconds for audio', async () => {
    const fake = createFakeMedia();
    await videos(fake, { ...idea, duration: 2 }, { ...idea, duration: 10 });
    await audio(fake, speech);
    const seconds = fake.files.map((file) => (file.finishesAt - file.acceptedAt) / 1000);
    expect(seconds[0]).toBe(300);
    expect(seconds[1]).toBe(1_260);
    expect(seconds[2]).toBeLessThan(10);
  });

  it('can be chosen by job', async () => {
    const fake = createFakeMedia({
      durations: ({ kind, settings }) => (kind === 'audio' ? '2s' : Number(settings.duration) * 7),
    });
    await videos(fake, { ...idea, duration: 3 });
    await audio(fake, speech);
    expect(fake.files.map((file) => file.finishesAt - file.acceptedAt)).toEqual([21, 2_000]);
  });

  it('may be nothing at all', async () => {
    const fake = createFakeMedia({ durations: () => 0 });
    await videos(fake, idea);
    expect((await status(fake, 'file_000001')).body).toMatchObject({ status: 'success' });
  });
});
