import { PassThrough } from 'node:stream';
import { MediaFile } from 'postreel';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import {
  ending,
  fakeService,
  inTime,
  speech,
  statusEndpoint,
  useFakeTime,
  video,
} from '../../support/media/fake-time.js';

useFakeTime();
beforeAll(() => import('../../../src/media/download/transfer.js')); // files are not read on a fake clock

const download = 'GET /cdn/{file}';

async function oneFile(options: Parameters<typeof fakeService>[0] = {}) {
  const service = fakeService({ fileBytes: 5_000, ...options });
  const client = service.media({ headers: { 'x-team': 'cats' } });
  const job = await inTime(client.generate.audio(speech()));
  const file = await inTime(job.waitForFile());
  return { ...service, client, file, content: service.fake.contentOf(job.fileId) };
}

describe('a finished file', () => {
  it('has its id and URL, and nothing else in logs', async () => {
    const { fake, file } = await oneFile();
    expect(file).toBeInstanceOf(MediaFile);
    expect(file.url).toBe(fake.files[0]!.download);
    expect(JSON.parse(JSON.stringify(file))).toEqual({ fileId: file.fileId, url: file.url });
  });

  it('has the same bytes as a stream, as a blob and in memory', async () => {
    const { file, content } = await oneFile();
    const streamed = new Response(await file.stream());
    expect(new Uint8Array(await streamed.arrayBuffer())).toEqual(content);
    const blob = await file.blob();
    expect(blob.type).toBe('audio/mpeg');
    expect(new Uint8Array(await blob.arrayBuffer())).toEqual(content);
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(content);
  });

  it('can be downloaded in parts', async () => {
    const { file, content } = await oneFile();
    const response = await file.response({ range: 'bytes=100-199' });
    expect(response.status).toBe(206);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(content.slice(100, 200));
  });

  it('is requested without the key and the headers of the client', async () => {
    const { fake, file } = await oneFile();
    await file.arrayBuffer();
    const { headers, status } = fake.requests.at(-1)!;
    expect(status).toBe(200);
    expect(Object.keys(headers)).not.toContain('authorization');
    expect(JSON.stringify(headers)).not.toContain(fake.apiKey);
    expect(Object.keys(headers)).not.toContain('x-team');
  });

  it('is not charged to the rate limit', async () => {
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
    [204, 'UnexpectedResponseError'],
    [500, 'ServerError'],
    [503, 'ServerError'],
  ])('with %i rejects with a %s', async (status, name) => {
    const { fake, file } = await oneFile();
    fake.fail(download, { status, times: Number.POSITIVE_INFINITY });
    const { error } = await inTime(ending(file.stream()));
    expect(error).toMatchObject({
      name,
      status,
      code: 'DOWNLOAD_FAILED',
      message: expect.stringContaining(file.fileId) as string,
    });
  });

  it.each([
    ['once by default', undefined, 9],
    ['as often as asked', 2, 3],
    ['not at all if asked', 0, 1],
  ])('is retried: %s', async (_, retries, expected) => {
    const { fake, file } = await oneFile();
    fake.fail(download, { status: 503, times: Number.POSITIVE_INFINITY });
    const { error } = await inTime(ending(file.blob({ retries })));
    expect(error).toMatchObject({ status: 503 });
    expect(fake.requests.filter(({ endpoint }) => endpoint === download)).toHaveLength(expected);
  });

  it('survives an outage of half a minute', async () => {
    const { fake, file, content } = await oneFile();
    const stop = fake.fail(download, { drop: true, times: Number.POSITIVE_INFINITY });
    setTimeout(stop, 30_000);
    expect(new Uint8Array(await inTime(file.arrayBuffer()))).toEqual(content);
  });

  it('is retried after the time that the server asks for', async () => {
    const { fake, file, content } = await oneFile();
    fake.fail(download, { status: 429, retryAfter: 90 });
    const at = Date.now();
    expect(new Uint8Array(await inTime(file.arrayBuffer()))).toEqual(content);
    expect(Date.now() - at).toBeGreaterThanOrEqual(90_000);
    expect(Date.now() - at).toBeLessThan(91_000);
  });

  it.each([400, 401, 403, 404, 405, 409, 410, 451])(
    'with %i is retried with a new URL, after one status check',
    async (status) => {
      const { fake, file, content } = await oneFile();
      const fresh = file.url.replace('.mp3', '-2.mp3');
      fake.fail(download, { status });
      fake.files[0]!.download = fresh;
      const before = checks(fake.requests);
      expect(new Uint8Array(await inTime(file.arrayBuffer()))).toEqual(content);
      expect(file.url).toBe(fresh);
      expect(checks(fake.requests)).toBe(before + 1);
    },
  );

  it.each([408, 416, 429, 500, 503])(
    'with %i is retried without a status check, because the URL is still valid',
    async (status) => {
      const { fake, file, content } = await oneFile();
      fake.fail(download, { status });
      const before = checks(fake.requests);
      expect(new Uint8Array(await inTime(file.arrayBuffer()))).toEqual(content);
      expect(checks(fake.requests)).toBe(before);
    },
  );

  it('with 403 rejects with its own error when the URL has not changed', async () => {
    const { fake, file } = await oneFile();
    fake.fail(download, { status: 403 });
    const before = checks(fake.requests);
    expect((await inTime(ending(file.blob()))).error).toMatchObject({ status: 403 });
    expect(checks(fake.requests)).toBe(before + 1);
  });

  it('with 403 rejects with its own error when the status check fails', async () => {
    const { fake, file } = await oneFile();
    fake.fail(download, { status: 403 });
    fake.fail(statusEndpoint, { status: 404, times: Number.POSITIVE_INFINITY });
    expect((await inTime(ending(file.blob()))).error).toMatchObject({ status: 403 });
  });

  it('without a connection rejects with a ConnectionError and its cause', async () => {
    const { fake, file } = await oneFile();
    fake.fail(download, { drop: true, times: Number.POSITIVE_INFINITY });
    const { error } = await inTime(ending(file.blob()));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'DOWNLOAD_FAILED' });
    expect((error as Error).cause).toMatchObject({ cause: { name: 'TypeError' } });
  });

  it.each(['blob', 'arrayBuffer', 'stream'] as const)(
    'in the middle is resumed at the same byte (%s)',
    async (method) => {
      const { fake, file, content } = await oneFile();
      fake.fail(download, { truncate: true });
      const body = (await inTime<unknown>(file[method]())) as BodyInit; // as: all three are
      const bytes = await inTime(new Response(body).arrayBuffer());
      expect(new Uint8Array(bytes)).toEqual(content);
      const ranges = fake.requests.flatMap(({ headers }) => headers['range'] ?? []);
      expect(ranges).toHaveLength(1);
    },
  );

  it('because of an abort rejects with its reason', async () => {
    const { fake, file } = await oneFile();
    const before = AbortSignal.abort('before');
    expect((await inTime(ending(file.blob({ signal: before })))).error).toBe('before');
    fake.fail(download, { hang: true });
    const controller = new AbortController();
    const hanging = ending(file.stream({ signal: controller.signal }));
    await new Promise((resolve) => setImmediate(resolve));
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

describe('a copy of a file', () => {
  /** A slow store for the bytes, and what became of it. */
  function store() {
    const chunks: Uint8Array[] = [];
    const ends: unknown[] = [];
    const stream = new WritableStream<Uint8Array>({
      write: (chunk) => void chunks.push(chunk),
      close: () => void ends.push('closed'),
      abort: (reason) => void ends.push(reason),
    });
    return { stream, ends, bytes: () => new Uint8Array(Buffer.concat(chunks)) };
  }

  it('is complete after a broken connection, and closes the stream', async () => {
    const { fake, file, content } = await oneFile();
    fake.fail(download, { truncate: true, times: 2 });
    const { stream, ends, bytes } = store();
    await inTime(file.pipeTo(stream));
    expect(bytes()).toEqual(content);
    expect(ends).toEqual(['closed']);
  });

  it('is complete when the server does not support ranges', async () => {
    const { fake, file, content } = await oneFile({ ranges: false });
    fake.fail(download, { truncate: true });
    const { stream, bytes } = store();
    await inTime(file.pipeTo(stream));
    expect(bytes()).toEqual(content);
  });

  it('ends with an error when the file has changed: a stream cannot start over', async () => {
    const { fake, file } = await oneFile();
    fake.fail(download, { truncate: true });
    const { stream, ends } = store();
    const onProgress = () => {
      fake.files[0]!.revision = 2;
    };
    const { error } = await inTime(ending(file.pipeTo(stream, { onProgress })));
    expect(error).toMatchObject({ code: 'DOWNLOAD_CHANGED' });
    expect(ends).toEqual([error]);
  });

  it.each([
    ['a stream of Node.js', () => new PassThrough(), 'got a stream of Node.js'],
    ['nothing', () => undefined, 'got'],
  ])('rejects %s with an error that names the alternative', async (_, streamOf, words) => {
    const { fake, file } = await oneFile();
    const stream = streamOf() as unknown as WritableStream<Uint8Array>;
    const { error } = await inTime(ending(file.pipeTo(stream)));
    expect(error).toMatchObject({ name: 'InvalidRequestError' });
    for (const word of [words, 'saveTo(file, path)', 'Writable.toWeb(stream)']) {
      expect(String(error)).toContain(word);
    }
    expect(fake.requests.filter(({ endpoint }) => endpoint === download)).toEqual([]);
  });

  it('ends when the stream rejects a write', async () => {
    const { file } = await oneFile();
    const full = new Error('The disk is full.');
    const stream = new WritableStream<Uint8Array>({ write: () => Promise.reject(full) });
    expect((await inTime(ending(file.pipeTo(stream)))).error).toBe(full);
  });

  it('can be aborted while the stream is busy', async () => {
    const { file } = await oneFile();
    const controller = new AbortController();
    const stream = new WritableStream<Uint8Array>({
      write: () => new Promise<void>(() => undefined),
    });
    const copy = ending(file.pipeTo(stream, { signal: controller.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort('enough');
    expect((await copy).error).toBe('enough');
  });

  it('closes the connection when the reader of the stream cancels', async () => {
    const { file, fake, content } = await oneFile();
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(content);
    const closed = new Promise((cancel) => {
      const endless = new ReadableStream({ pull, cancel });
      vi.spyOn(fake, 'fetch').mockResolvedValueOnce(new Response(endless));
    });
    const stream = await inTime(file.stream());
    await stream.cancel('enough');
    await closed;
  });
});

function checks(requests: readonly { endpoint: string | undefined }[]): number {
  return requests.filter(({ endpoint }) => endpoint === statusEndpoint).length;
}
