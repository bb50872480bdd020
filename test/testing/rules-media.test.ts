import { describe, expect, it } from 'vitest';
import { createFakeMedia } from 'postreel/testing';
import {
  audio,
  call,
  created,
  idea,
  record,
  script,
  speech,
  status,
  video,
  videos,
} from '../support/testing/media-calls.js';

// The rules of the media document that no other test of the fake shows. `rules.md` lists all rules.
// The number in each comment is the line of the document.

const make = () => createFakeMedia({ rateLimit: false, pendingLimit: Infinity });

describe('media, POST /v1/generate/video', () => {
  // 62
  it('each request without `folderId` creates a folder, also under a name that exists', async () => {
    const fake = make();
    await video(fake, { file: 'Launch', payload: [idea] });
    await video(fake, { file: 'Launch', payload: [idea, idea] });
    const [first, second] = fake.folders;
    expect(fake.folders.map(({ name }) => name)).toEqual(['Launch', 'Launch']);
    expect(fake.files.map(({ folderId }) => folderId)).toEqual([
      first?.folderId,
      second?.folderId,
      second?.folderId,
    ]);
  });

  // 70, 71
  it.each([
    ['`content` of an idea', { ...idea, content: 'x'.repeat(10_001) }],
    ['`prompt` of a script', { ...script, prompt: 'x'.repeat(10_001) }],
    [
      '`content` of a URL',
      { ...script, workflowType: 'url', content: `https://a.example/${'x'.repeat(10_000)}` },
    ],
  ])('%s has at most 10000 characters', async (_name, job) => {
    expect((await videos(make(), job)).status).toBe(400);
  });

  // 166, 167
  it('a character outside of the first plane counts once', async () => {
    const longest = '😀'.repeat(10_000);
    const fake = make();
    expect((await videos(fake, { ...script, content: longest })).status).toBe(200);
    expect((await videos(fake, { ...idea, prompt: longest })).status).toBe(200);
    expect((await audio(fake, { ...speech, content: longest })).status).toBe(200);
  });

  // 80
  it('`aiVideoModel` is taken on a paid plan when `visuals` is ai', async () => {
    const fake = createFakeMedia({ paidPlan: true });
    const job = { ...idea, visuals: 'ai', aiVideoModel: 'ai-video-b' };
    expect((await videos(fake, job)).status).toBe(200);
  });

  // 109
  it('the ids of the files are those that the status endpoint knows', async () => {
    const fake = make();
    const ids = created(await videos(fake, idea, script));
    expect(ids).toHaveLength(2);
    for (const id of ids) {
      expect(await record(fake, id)).toMatchObject({ fileId: id, status: 'queued' });
    }
  });
});

describe('media, Status record', () => {
  // 30
  it.each(['1s', '20s'])('a job has no `download` before it succeeds: %s', async (time) => {
    const fake = createFakeMedia({ durations: () => '1m', queueTime: '10s' });
    await videos(fake, idea);
    await audio(fake, speech);
    await fake.advance(time);
    for (const { fileId } of fake.files) {
      expect(await record(fake, fileId)).not.toHaveProperty('download');
    }
  });

  // 30
  it('the `download` of an audio is the URL that the callback names', async () => {
    const fake = createFakeMedia({ callback: () => Promise.resolve(new Response('ok')) });
    const webhook = 'https://shop.example/done';
    await audio(fake, { ...speech, format: 'wav', webhook });
    await fake.advance('1h');
    const [file] = fake.files;
    expect(await record(fake, file?.fileId)).toMatchObject({ download: file?.download });
    expect(fake.callbacks[0]?.body).toEqual({
      success: true,
      data: { id: file?.fileId, file: file?.download },
    });
  });

  // 43, 44, 48
  it.each(['success', 'error', 'canceled'] as const)('%s is final', async (state) => {
    const fake = make();
    fake.outcome({ status: state, after: '5s' });
    await videos(fake, idea);
    await fake.advance('5s');
    expect(await record(fake)).toMatchObject({ status: state });
    await fake.advance('1h');
    expect(await record(fake)).toMatchObject({ status: state });
  });
});

describe('media, Versioning', () => {
  // 178
  it.each(['/generate/audio', '/generate/video'])('POST %s does not exist', async (path) => {
    expect((await call(make(), path, { body: { ...speech, payload: [idea] } })).status).toBe(404);
  });

  // 178
  it('GET /generate/status does not exist', async () => {
    const fake = make();
    await videos(fake, idea);
    expect((await status(fake, 'file_000001')).status).toBe(200);
    expect((await call(fake, '/generate/status?fileId=file_000001')).status).toBe(404);
  });
});

describe('media, Limits', () => {
  // 164
  it('a request of several jobs counts once in the rate', async () => {
    const fake = createFakeMedia({ pendingLimit: Infinity });
    for (let count = 0; count < 10; count += 1) {
      expect((await videos(fake, idea, idea, idea)).status).toBe(200);
    }
    expect((await videos(fake, idea)).status).toBe(429);
  });

  // 165
  it('audio and video count together in the pending jobs', async () => {
    const fake = createFakeMedia({ rateLimit: false, pendingLimit: 2 });
    expect((await audio(fake, speech)).status).toBe(200);
    expect((await videos(fake, idea)).status).toBe(200);
    expect((await audio(fake, speech)).status).toBe(429);
    expect((await videos(fake, idea)).status).toBe(429);
  });
});
