import { GenerationJob, type JobRecord } from 'postreel';
import { describe, expect, it } from 'vitest';
import { mediaOver } from '../../support/clients.js';
import { answering } from '../../support/msw.js';
import {
  ending,
  fakeService,
  inTime,
  speech,
  statusEndpoint,
  useFakeTime,
  video,
  videoEndpoint,
} from '../../support/media/fake-time.js';

useFakeTime();

describe('generate.video', () => {
  it('resolves to one job handle per job, in submitted order', async () => {
    const { fake, media } = fakeService();
    const payload = ['a', 'b', 'c'].map((fileName) => video({ fileName }));
    const jobs = await inTime(media().generate.video({ payload }));
    expect(jobs.map(({ fileId }) => fileId)).toEqual(fake.files.map(({ fileId }) => fileId));
    expect(fake.files.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    for (const job of jobs) {
      expect(job).toBeInstanceOf(GenerationJob);
      expect(job).toMatchObject({ kind: 'video', folderId: fake.folders[0]!.folderId });
    }
  });

  it('returns the response', async () => {
    const { media } = fakeService();
    const { data, response } = await inTime(
      media()
        .generate.video({ payload: [video()] })
        .withResponse(),
    );
    expect(data).toHaveLength(1);
    expect(response?.status).toBe(200);
  });

  it.each([
    ['shorter than the payload', { filesCreated: ['file_a', 'file_b'] }, ['file_a', 'file_b']],
    ['with holes', { filesCreated: ['file_a', null, ''] }, ['file_a']],
    ['with an id twice', { filesCreated: ['file_a', 'file_b', 'file_b'] }, ['file_a', 'file_b']],
    ['that is no list', { filesCreated: 'file_a' }, []],
    ['that is missing', {}, []],
  ])('rejects filesCreated %s with the ids that exist', async (_, data, fileIds) => {
    const { fetch } = answering(() => ({ success: true, data }));
    const { error } = await inTime(
      ending(mediaOver(fetch).generate.video({ payload: [video(), video(), video()] })),
    );
    expect(error).toMatchObject({
      name: 'UnexpectedResponseError',
      code: 'FILE_IDS_MISSING',
      outcome: 'unknown',
      fileIds,
      method: 'POST',
      path: '/v1/generate/video',
    });
    for (const fileId of fileIds) {
      expect((error as Error).message).toContain(fileId);
    }
  });

  it('resolves to every job that exists, if the service made more than were asked for', async () => {
    const data = { folderId: 'folder_1', filesCreated: ['file_a', 'file_b', 'file_c'] };
    const { fetch } = answering(() => ({ success: true, data }));
    const call = mediaOver(fetch).generate.video({ payload: [video(), video()] });
    const jobs = await inTime(call);
    expect(jobs.map(({ fileId }) => fileId)).toEqual(['file_a', 'file_b', 'file_c']);
  });

  it.each([
    ['a list', []],
    ['nothing', null],
    ['a text', '"done"'],
    ['true', 'true'],
  ])('rejects the response %s with a PostreelError', async (_, body) => {
    const answer = () =>
      typeof body === 'string'
        ? new Response(body, { headers: { 'content-type': 'application/json' } })
        : body;
    const { fetch } = answering(answer);
    const { error } = await inTime(ending(mediaOver(fetch).generate.video({ payload: [video()] })));
    expect(error).toMatchObject({ code: 'FILE_IDS_MISSING', outcome: 'unknown' });
  });

  it.each(['video', 'audio'] as const)('rejects `success: false` (%s)', async (kind) => {
    const { fetch } = answering(() => ({ success: false, message: 'Out of credits.' }));
    const { generate } = mediaOver(fetch);
    const call: PromiseLike<unknown> =
      kind === 'video' ? generate.video({ payload: [video()] }) : generate.audio(speech());
    const { error } = await inTime(ending(call));
    expect(error).toMatchObject({
      outcome: 'rejected',
      message: expect.stringContaining('Out of credits.') as string,
    });
  });
});

describe('generate.audio', () => {
  it('resolves to one job handle', async () => {
    const { fake, media } = fakeService();
    const job = await inTime(media().generate.audio(speech()));
    expect(job).toMatchObject({ fileId: fake.files[0]!.fileId, kind: 'audio' });
    expect(job.folderId).toBeUndefined();
  });

  it.each([{ fileId: 7 }, { success: true, data: { fileId: '7' } }])(
    'reads the id in %j',
    async (body) => {
      const { fetch } = answering(() => body);
      const job = await inTime(mediaOver(fetch).generate.audio(speech()));
      expect(job.fileId).toBe('7');
    },
  );

  it.each([{}, { fileId: '' }, { fileId: {} }, [], null])(
    'rejects the response %j',
    async (body) => {
      const { fetch } = answering(() => body);
      const { error } = await inTime(ending(mediaOver(fetch).generate.audio(speech())));
      expect(error).toMatchObject({ code: 'FILE_IDS_MISSING', outcome: 'unknown', fileIds: [] });
    },
  );
});

describe('a job handle', () => {
  it('makes one status check with status()', async () => {
    const { fake, media } = fakeService();
    const job = await inTime(media().generate.audio(speech()));
    const record = await inTime(job.status());
    expect(record).toMatchObject({ fileId: job.fileId, status: 'queued', progress: 0 });
    expect(fake.requests.at(-1)).toMatchObject({
      endpoint: statusEndpoint,
      query: { fileId: job.fileId },
    });
  });

  it('is restored from its JSON', async () => {
    const { media } = fakeService();
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    const kept = JSON.parse(JSON.stringify(job)) as JobRecord;
    expect(kept).toEqual({ fileId: job!.fileId, kind: 'video', folderId: job!.folderId });
    const found = media().job(kept);
    expect(found).toBeInstanceOf(GenerationJob);
    expect(JSON.stringify(found)).toBe(JSON.stringify(job));
    const file = await inTime(found.waitForFile());
    expect(file.fileId).toBe(job!.fileId);
  });

  it('keeps the intervals of its kind after that', async () => {
    const { media } = fakeService({ durations: () => '5h' });
    const job = media().job({ fileId: 'file_x', kind: 'audio' });
    const made = await inTime(media().generate.audio(speech()));
    const found = media().job({ ...job.toJSON(), fileId: made.fileId });
    const { error } = await inTime(ending(found.waitForFile()));
    expect(error).toMatchObject({ name: 'WaitTimeoutError', elapsedMs: 600_000 });
  });

  it.each(['https://app.example.com', 'https://app.example.com/'])(
    'has the URL of its editor with the appUrl %s',
    async (appUrl) => {
      const { media } = fakeService();
      const client = media({ appUrl });
      const [job] = await inTime(client.generate.video({ payload: [video()] }));
      expect(job!.editorUrl).toBe(`https://app.example.com/editor/${job!.fileId}`);
      expect(client.job(job!.toJSON()).editorUrl).toBe(job!.editorUrl);
      expect(client.job({ fileId: 'a/b?', kind: 'video' }).editorUrl).toBe(
        'https://app.example.com/editor/a%2Fb%3F',
      );
    },
  );

  it('has no editor URL without an appUrl', () => {
    const job = fakeService().media().job({ fileId: 'file_1', kind: 'video' });
    expect(job.editorUrl).toBeUndefined();
  });
});

it('a generate call is never repeated automatically', async () => {
  const { fake, media } = fakeService();
  fake.fail(videoEndpoint, { loseAnswer: true, times: 9 });
  const { error } = await inTime(ending(media().generate.video({ payload: [video()] })));
  expect(error).toMatchObject({ outcome: 'unknown' });
  expect(fake.requests).toHaveLength(1);
});

it.each(['image', 5, null])(
  'a job of the kind %j is rejected, and the error names the kind',
  (kind) => {
    const { media } = fakeService();
    expect(() => media().job({ fileId: 'file_1', kind: kind as never })).toThrow(
      "`kind` must be 'video' or 'audio'",
    );
  },
);
