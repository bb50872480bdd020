import { describe, expect, it } from 'vitest';
import { createFakeMedia, type FakeMedia } from 'postreel/testing';
import { audio, idea, record, speech, videos } from '../../support/testing/media-calls.js';

async function statuses(fake: FakeMedia): Promise<string[]> {
  await fake.advance('1h');
  return fake.files.map((file) => file.status);
}

describe('a scripted outcome', () => {
  it('holds for the next job', async () => {
    const fake = createFakeMedia();
    fake.outcome({ status: 'error' });
    await videos(fake, idea, idea);
    expect(await statuses(fake)).toEqual(['error', 'success']);
  });

  it('holds for as many jobs as times says', async () => {
    const fake = createFakeMedia();
    fake.outcome({ status: 'canceled', times: 2 });
    await videos(fake, idea, idea, idea);
    expect(await statuses(fake)).toEqual(['canceled', 'canceled', 'success']);
  });

  it('holds for the next job that matches', async () => {
    const fake = createFakeMedia();
    fake.outcome({ status: 'error' }, ({ kind }) => kind === 'audio');
    fake.outcome({ status: 'canceled' }, ({ settings }) => settings.prompt === 'Wasps');
    await videos(fake, idea, { ...idea, prompt: 'Wasps' });
    await audio(fake, speech);
    expect(await statuses(fake)).toEqual(['success', 'canceled', 'error']);
  });

  it('can be taken back', async () => {
    const fake = createFakeMedia();
    fake.outcome({ status: 'error' })();
    await videos(fake, idea);
    expect(await statuses(fake)).toEqual(['success']);
  });

  it('ends the job after its time', async () => {
    const fake = createFakeMedia();
    fake.outcome({ status: 'success', after: '30s' });
    await videos(fake, idea);
    await fake.advance('29s');
    expect(await record(fake)).toMatchObject({ status: 'processing' });
    await fake.advance('1s');
    expect(await record(fake)).toMatchObject({ status: 'success' });
  });

  it.each([0.4, 40])('reports the progress %d', async (progress) => {
    const fake = createFakeMedia();
    fake.outcome({ progress });
    await videos(fake, idea);
    expect(await record(fake)).toMatchObject({ progress });
  });

  it('leaves the progress out', async () => {
    const fake = createFakeMedia();
    fake.outcome({ progress: false });
    await videos(fake, idea);
    expect(await record(fake)).not.toHaveProperty('progress');
  });

  it('leaves the download out of a success', async () => {
    const fake = createFakeMedia();
    fake.outcome({ omitDownload: true });
    await videos(fake, idea);
    await fake.advance('1h');
    expect(await record(fake)).toEqual({ fileId: 'file_000001', status: 'success', progress: 100 });
  });

  it('reports a status that the document does not know', async () => {
    const fake = createFakeMedia();
    fake.outcome({ unknownStatus: 'rendering', after: '1m' });
    await videos(fake, idea);
    await fake.advance('30s');
    expect(await record(fake)).toMatchObject({ status: 'rendering' });
    await fake.advance('30s');
    expect(await record(fake)).toMatchObject({ status: 'success' });
  });
});
