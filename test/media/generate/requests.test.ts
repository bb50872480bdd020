import type { VideoJob, WarningEvent } from 'postreel';
import { describe, expect, it } from 'vitest';
import { mediaOver } from '../../support/clients.js';
import { answering } from '../../support/msw.js';
import { ending, speech, video } from '../../support/media/fake-time.js';

const accepted = {
  success: true,
  data: { folderId: 'folder_1', filesCreated: ['file_1', 'file_2'] },
};

/** A client that hears `accepted` for every call, and what it sent. */
function listening(answer: unknown = accepted) {
  const { fetch, requests } = answering(() => answer);
  return { requests, client: mediaOver(fetch) };
}

describe('the request of generate.video', () => {
  it('has the given body as JSON, and the key', async () => {
    const { client, requests } = listening();
    const body = { file: 'Cats', payload: [video({ duration: 2, bgMusicVolume: 0 }), video()] };
    await client.generate.video(body);
    const [request] = requests;
    expect(request!.method).toBe('POST');
    expect(request!.url).toBe('https://media.test/v1/generate/video');
    expect(request!.headers.get('authorization')).toBe('Bearer media_test_key');
    expect(request!.headers.get('content-type')).toBe('application/json');
    expect(await request!.json()).toEqual(body);
  });

  it.each([
    ['a prompt', video({ prompt: ' \n\t ' }), 'prompt'],
    ['a script', video({ workflowType: 'script', content: '\u00A0 ' }), 'content'],
  ])('is rejected with %s of white space', async (_, job, field) => {
    const { client, requests } = listening();
    const { error } = await ending(client.generate.video(job));
    expect(String(error)).toContain(`${field}\` must contain more than white space`);
    expect(requests).toEqual([]);
  });

  it.each([
    ['idea without a prompt', { prompt: undefined }, 'prompt'],
    ['script without a text', { workflowType: 'script' }, 'content'],
    ['url without an address', { workflowType: 'url', content: 'cats' }, 'content'],
    ['library without pictures', { visuals: 'library' }, 'mediaUrls'],
    ['library with no picture', { visuals: 'library', mediaUrls: [] }, 'mediaUrls'],
    ['a model of AI video with stock', { aiVideoModel: 'ai-video-b' }, 'aiVideoModel'],
    ['16 minutes', { duration: 16 }, 'duration'],
    ['an extension of audio', { extension: 'wav' }, 'extension'],
    ['another format', { workflowFormat: 'audio' }, 'workflowFormat'],
    ['another art style', { visuals: 'ai', artStyle: 'cubism' }, 'artStyle'],
    ['10 001 characters', { prompt: 'x'.repeat(10_001) }, 'prompt'],
  ])('is rejected with %s', async (_, more, field) => {
    const { client, requests } = listening();
    const payload = [video(), { ...video(), ...more } as VideoJob];
    const { error } = await ending(client.generate.video({ payload }));
    expect(error).toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field: `payload[1].${field}` }],
    });
    expect(requests).toEqual([]);
  });

  it('has one job when one is given', async () => {
    const { client, requests } = listening({ ...accepted, data: { filesCreated: ['file_1'] } });
    const { workflowFormat, ...job } = video();
    const made = await client.generate.video(job);
    expect(made.fileId).toBe('file_1');
    expect(await requests[0]!.json()).toEqual({ payload: [{ ...job, workflowFormat }] });
  });

  it('reports a field of a single video under its own name', async () => {
    const { client, requests } = listening();
    const warnings: WarningEvent[] = [];
    client.on('warning', (warning) => warnings.push(warning));
    const calls = [{ duration: 60 }, {}].map((more) =>
      ending(
        client.generate.video({ ...video(more), ...(more.duration ? {} : { artstyle: 'a' }) }),
      ),
    );
    const alone = ending(client.generate.video(video({ duration: 60, brandId: 'brand_1' })));
    const [{ error }] = await Promise.all([...calls, alone]);
    for (const refusal of [error, (await alone).error]) {
      expect(refusal).toMatchObject({
        message: 'POST /v1/generate/video was not sent: `duration` must be at most 15; got 60.',
        fieldErrors: [{ field: 'duration' }],
      });
    }
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^`artstyle` is not a documented field/),
    ]);
    expect(requests).toHaveLength(1);
  });

  it('has the only valid format when it was left out', async () => {
    const { client, requests } = listening();
    const { workflowFormat, ...job } = video();
    await client.generate.video({ payload: [job, { ...job, workflowFormat: undefined }] });
    const complete = { ...job, workflowFormat };
    expect(await requests[0]!.json()).toEqual({ payload: [complete, complete] });
  });

  it('resolves to a list, whose error explains when it is used as a job', async () => {
    const { client } = listening();
    const jobs = await client.generate.video({ payload: [video(), video()] });
    const asOne = jobs as unknown as { waitForFile(): void };
    expect(() => asOne.waitForFile()).toThrow('`const [job] = await …`');
    expect(Object.keys(jobs)).toEqual(['0', '1']);
  });

  it('is rejected with an empty payload', async () => {
    const { client, requests } = listening();
    const { error } = await ending(client.generate.video({ payload: [] }));
    expect(error).toMatchObject({ name: 'InvalidRequestError' });
    expect(requests).toEqual([]);
  });

  it.each([
    [{ subtitlePresetId: 's', templateId: 't' }, '`payload[0].subtitlePresetId`'],
    [{ imageAnimationPreset: 'Mix' }, '`payload[0].imageAnimationPreset`'],
    [{ artStyle: 'anime' }, '`payload[0].artStyle`'],
  ] as [object, string][])(
    'causes a warning when a field has no effect: %j',
    async (more, words) => {
      const { client, requests } = listening();
      const warnings: WarningEvent[] = [];
      client.on('warning', (warning) => warnings.push(warning));
      await client.generate.video({ payload: [video(more)] });
      expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining(words)]);
      expect(requests).toHaveLength(1);
    },
  );

  it('must not have more jobs than may be pending at one time', async () => {
    const { fetch, requests } = answering(() => accepted);
    const payload = Array.from({ length: 21 }, () => video());
    const call = mediaOver(fetch, { rateLimit: {} }).generate.video({ payload });
    await expect(call).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      message:
        'POST /v1/generate/video was not sent: `payload` takes at most 20 jobs, since no more may be pending at one time; got 21. Use `media.queue()`.',
    });
    expect(requests).toEqual([]);
    for (const rateLimit of [{ pending: 21 }, false] as const) {
      await mediaOver(fetch, { rateLimit }).generate.video({ payload }).safe();
    }
    expect(requests).toHaveLength(2);
  });

  it('causes a warning when a folder has two names, or one request two brand kits', async () => {
    const { client } = listening();
    const warnings: string[] = [];
    client.on('warning', ({ message }) => warnings.push(message));
    const payload = [video({ brandId: 'a' }), video()];
    await client.generate.video({ file: 'Cats', folderId: 'folder_1', payload });
    expect(warnings).toEqual([
      expect.stringContaining('`file` has no effect together with `folderId`'),
      expect.stringContaining('mixes brand kits'),
    ]);
  });

  it('may have a model that is not in the document', async () => {
    const { client, requests } = listening();
    await client.generate.video({
      payload: [video({ visuals: 'ai', aiVideoModel: 'a-newer-model' } as object), video()],
    });
    expect(requests).toHaveLength(1);
  });
});

describe('the request of generate.audio', () => {
  it('has the given body', async () => {
    const { client, requests } = listening({ fileId: 'file_1' });
    const body = speech({
      voiceStyleId: null,
      playbackRate: 0.5,
      pronunciations: [{ original: 'SQL', replace: 'sequel' }],
      webhook: 'https://example.com/done',
    });
    await client.generate.audio(body);
    expect(requests[0]!.url).toBe('https://media.test/v1/generate/audio');
    expect(await requests[0]!.json()).toEqual(body);
  });

  it.each([
    [{ playbackRate: 0.4 }, 'playbackRate'],
    [{ format: 'mp4' }, 'format'],
    [{ webhook: '/done' }, 'webhook'],
    [{ content: '' }, 'content'],
    [{ pronunciations: [{ original: 'SQL' }] }, 'pronunciations[0].replace'],
    [{ pronunciations: [{ original: '', replace: 'x' }] }, 'pronunciations[0].original'],
  ])('is rejected with %j', async (more, field) => {
    const { client, requests } = listening();
    const { error } = await ending(client.generate.audio(speech(more as object)));
    expect(error).toMatchObject({ name: 'InvalidRequestError', fieldErrors: [{ field }] });
    expect(requests).toEqual([]);
  });
});

describe('the request of generate.status', () => {
  it('has the id in the query, and the same header', async () => {
    const { client, requests } = listening({ fileId: 'a b&c', status: 'queued' });
    const record = await client.generate.status({ fileId: 'a b&c' });
    expect(record.status).toBe('queued');
    expect(new URL(requests[0]!.url).searchParams.get('fileId')).toBe('a b&c');
    expect(requests[0]!.headers.get('authorization')).toBe('Bearer media_test_key');
    expect(requests[0]!.headers.get('content-type')).toBe('application/json');
  });

  it('gets a response that is read with and without an envelope', async () => {
    const { client } = listening({ success: true, data: { fileId: 'file_1', status: 'success' } });
    expect(await client.generate.status({ fileId: 'file_1' })).toEqual({
      fileId: 'file_1',
      status: 'success',
    });
  });
});
