import { MediaFile } from 'postreel';
import { describe, expect, it } from 'vitest';
import {
  ending,
  fakeService,
  inTime,
  speech,
  useFakeTime,
  video,
} from '../../support/media/fake-time.js';

useFakeTime();

const download = 'GET /cdn/{file}';

async function oneFile(options: Parameters<typeof fakeService>[0] = {}) {
  const service = fakeService({ fileBytes: 5_000, ...options });
  const client = service.media({ headers: { 'x-team': 'cats' } });
  const job = await inTime(client.generate.audio(speech()));
  const file = await inTime(job.waitForFile());
  return { ...service, client, file, content: service.fake.contentOf(job.fileId) };
}

describe('a finished file', () => {
  it('knows its id and address, and says no more in logs', async () => {
    const { fake, file } = await oneFile();
    expect(file).toBeInstanceOf(MediaFile);
    expect(file.url).toBe(fake.files[0]!.download);
    expect(JSON.parse(JSON.stringify(file))).toEqual({ fileId: file.fileId, url: file.url });
  });

  it('comes as a stream, a blob and in memory, with the same bytes', async () => {
    const { file, content } = await oneFile();
    const streamed = new Response(await file.stream());
    expect(new Uint8Array(await streamed.arrayBuffer())).toEqual(content);
    const blob = await file.blob();
    expect(blob.type).toBe('audio/mpeg');
    expect(new Uint8Array(await blob.arrayBuffer())).toEqual(content);
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(content);
  });

  it('comes in parts', async () => {
    const { file, content } = await oneFile();
    const response = await file.response({ range: 'bytes=100-199' });
    expect(response.status).toBe(206);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(content.slice(100, 200));
  });

  it('is fetched without the key and the headers of the client', async () => {
    const { fake, file } = await oneFile();
    await file.arrayBuffer();
    const { headers, status } = fake.requests.at(-1)!;
    expect(status).toBe(200);
    expect(Object.keys(headers)).not.toContain('authorization');
    expect(JSON.stringify(headers)).not.toContain(fake.apiKey);
    expect(Object.keys(headers)).not.toContain('x-team');
  });

  it('costs nothing of the rate limit', async () => {
    const { client, file } = await oneFile();
    const { used } = client.rateLimit.state()!;
    await file.arrayBuffer();
    expect(client.rateLimit.state()!.used).toBe(used);
  });

  it('keeps the type of a video', async () => {
    const { fake, media } = fakeService({ fileBytes: 10 });
    const jobs = await inTime(media().generate.video({ payload: [video({ extension: 'mov' })] }));
    const file = await inTime(jobs[0]!.waitForFile());
    expect((await file.blob()).type).toBe('video/quicktime');
    expect(fake.files[0]!.download).toMatch(/\.mov$/);
  });
});

describe('a download that fails', () => {
  it.each([
    [404, 'NotFoundError'],
    [410, 'UnexpectedResponseError'],
    [403, 'UnexpectedResponseError'],
    [500, 'ServerError'],
    [503, 'ServerError'],
  ])('with %i is a %s', async (status, name) => {
    const { fake, file } = await oneFile();
    fake.fail(download, { status });
    const { error } = await ending(file.stream());
    expect(error).toMatchObject({
      name,
      status,
      code: 'DOWNLOAD_FAILED',
      message: expect.stringContaining(file.fileId) as string,
    });
  });

  it('without a connection is a ConnectionError with its cause', async () => {
    const { fake, file } = await oneFile();
    fake.fail(download, { drop: true });
    const { error } = await ending(file.blob());
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'DOWNLOAD_FAILED' });
    expect((error as Error).cause).toBeInstanceOf(TypeError);
  });

  it.each(['blob', 'arrayBuffer'] as const)(
    'in the middle is a ConnectionError too (%s)',
    async (method) => {
      const { fake, file } = await oneFile();
      fake.fail(download, { truncate: true });
      const { error } = await ending<unknown>(file[method]());
      expect(error).toMatchObject({ name: 'ConnectionError', code: 'DOWNLOAD_FAILED' });
    },
  );

  it('by an abort rejects with its reason', async () => {
    const { fake, file } = await oneFile();
    const before = AbortSignal.abort('before');
    expect((await ending(file.blob({ signal: before }))).error).toBe('before');
    fake.fail(download, { hang: true });
    const controller = new AbortController();
    const hanging = ending(file.stream({ signal: controller.signal }));
    controller.abort('enough');
    expect((await hanging).error).toBe('enough');
    fake.fail(download, { stall: true });
    const half = new AbortController();
    const stalled = ending(file.arrayBuffer({ signal: half.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    half.abort('enough');
    expect((await stalled).error).toBe('enough');
  });
});
