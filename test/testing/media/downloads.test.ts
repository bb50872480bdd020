import { beforeEach, describe, expect, it } from 'vitest';
import { createFakeMedia, type FakeMedia, type FakeMediaOptions } from 'postreel/testing';
import { audio, idea, speech, videos } from '../../support/testing/media-calls.js';

async function finished(options: FakeMediaOptions = {}): Promise<FakeMedia> {
  const fake = createFakeMedia({ fileBytes: 200_000, ...options });
  await videos(fake, idea);
  await fake.advance('1h');
  return fake;
}

const get = (fake: FakeMedia, headers: Record<string, string> = {}, method = 'GET') =>
  fake.fetch(fake.files[0]!.download!, { headers, method });

const bytes = async (response: Response) => new Uint8Array(await response.arrayBuffer());

describe('a download', () => {
  let fake: FakeMedia;
  beforeEach(async () => {
    fake = await finished();
  });

  it('delivers the bytes of the file with their length', async () => {
    const response = await get(fake);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-length': '200000',
      'content-type': 'video/mp4',
      'accept-ranges': 'bytes',
    });
    expect(response.headers.get('etag')).toMatch(/^"[0-9a-f]{8}"$/);
    expect(await bytes(response)).toEqual(fake.contentOf('file_000001'));
  });

  it('refuses an Authorization header, so that a leaked key is caught', async () => {
    const response = await get(fake, { authorization: `Bearer ${fake.apiKey}` });
    expect(response.status).toBe(400);
  });

  it.each([
    ['bytes=0-99', 0, 100],
    ['bytes=65500-65600', 65_500, 65_601],
    ['bytes=199990-', 199_990, 200_000],
    ['bytes=199990-999999', 199_990, 200_000],
    ['bytes=-10', 199_990, 200_000],
  ])('delivers the range %s', async (range, from, to) => {
    const response = await get(fake, { range });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/200000`);
    expect(response.headers.get('content-length')).toBe(String(to - from));
    expect(await bytes(response)).toEqual(fake.contentOf('file_000001').slice(from, to));
  });

  it.each(['bytes=200000-', 'bytes=-0'])('answers 416 for %s', async (range) => {
    const response = await get(fake, { range });
    expect([response.status, response.headers.get('content-range')]).toEqual([
      416,
      'bytes */200000',
    ]);
  });

  it.each(['bytes=0-1,5-6', 'lines=1-2', 'bytes=-'])('ignores the range %s', async (range) => {
    expect((await get(fake, { range })).status).toBe(200);
  });

  it('resumes only the same file with If-Range', async () => {
    const etag = (await get(fake)).headers.get('etag')!;
    const resume = { range: 'bytes=100-', 'if-range': etag };
    expect((await get(fake, resume)).status).toBe(206);
    const before = fake.contentOf('file_000001');
    fake.files[0]!.revision += 1;
    const response = await get(fake, resume);
    expect([response.status, response.headers.get('etag') === etag]).toEqual([200, false]);
    expect(await bytes(response)).not.toEqual(before);
  });

  it('answers HEAD without a body', async () => {
    const response = await get(fake, {}, 'HEAD');
    expect(response.headers.get('content-length')).toBe('200000');
    expect(await response.text()).toBe('');
  });

  it.each(['/file_000002.mp4', '/file_000001.mp3', ''])('is 404 for %j', async (path) => {
    expect((await fake.fetch(fake.cdnUrl + path)).status).toBe(404);
  });

  it('is recorded and can be broken', async () => {
    fake.fail('GET /cdn/{file}', { truncate: true });
    const response = await get(fake);
    expect(response.headers.get('content-length')).toBe('200000');
    let read = 0;
    const readAll = async () => {
      for await (const chunk of response.body!) {
        read += chunk.length;
      }
    };
    await expect(readAll()).rejects.toThrow('terminated');
    expect(read).toBe(100_000);
    expect(fake.requests.at(-1)).toMatchObject({
      endpoint: 'GET /cdn/{file}',
      path: '/file_000001.mp4',
      status: 200,
    });
  });

  it('ends when the caller gives up', async () => {
    const controller = new AbortController();
    const response = await fake.fetch(fake.files[0]!.download!, { signal: controller.signal });
    const reader = response.body!.getReader();
    await reader.read();
    controller.abort(new Error('enough'));
    await expect(
      (async () => {
        while (!(await reader.read()).done) {
          // Reads until it fails.
        }
      })(),
    ).rejects.toThrow('enough');
  });
});

describe('the options of downloads', () => {
  it('fileBytes is the size of each file', async () => {
    const fake = createFakeMedia({ fileBytes: ({ kind }) => (kind === 'audio' ? 3 : 0) });
    await videos(fake, idea);
    await audio(fake, speech);
    await fake.advance('1h');
    const sizes = [];
    for (const { download } of fake.files) {
      sizes.push((await bytes(await fake.fetch(download!))).length);
    }
    expect(sizes).toEqual([0, 3]);
  });

  it('ranges: false delivers the whole file always', async () => {
    const response = await get(await finished({ ranges: false }), { range: 'bytes=100-' });
    expect([response.status, response.headers.get('accept-ranges')]).toEqual([200, 'none']);
  });

  it('cdnUrl is where they are', async () => {
    const fake = await finished({ cdnUrl: 'https://files.example/out/' });
    expect(fake.files[0]?.download).toBe('https://files.example/out/file_000001.mp4');
    expect((await get(fake)).status).toBe(200);
  });

  it('an unfinished file cannot be downloaded', async () => {
    const fake = createFakeMedia();
    await videos(fake, idea);
    expect((await fake.fetch(`${fake.cdnUrl}/file_000001.mp4`)).status).toBe(404);
  });
});
