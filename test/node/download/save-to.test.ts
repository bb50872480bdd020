import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  ConfigurationError,
  ConnectionError,
  MediaClient,
  MediaFile,
  NotFoundError,
  type TransferProgress,
} from 'postreel';
import { saveTo } from 'postreel/node';
import type { FakeMediaOptions } from 'postreel/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { arrivals, serve } from '../../support/fake-server.js';
import { settled } from '../../support/settled.js';

const download = 'GET /cdn/{file}';
const media = new MediaClient({ apiKey: 'key', baseUrl: 'https://media.test' });

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-save-'));
  path = join(folder, 'speech.mp3');
});
afterEach(() => rm(folder, { recursive: true }));

/** A finished file on a real server, and a function that returns its current bytes. */
async function serveFinishedFile(options: FakeMediaOptions = {}) {
  const { server, fakeMedia, media } = await serve({
    media: { fileBytes: 500_000, durations: () => 0, ...options },
  });
  const job = await media().generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
  const file = await job.waitForFile({ interval: 5 });
  const bytes = () => Buffer.from(fakeMedia.contentOf(job.fileId));
  // The first byte of each download; bytes not yet read are lost when a connection breaks.
  const starts = () =>
    fakeMedia.requests
      .filter(({ endpoint }) => endpoint === download)
      .map(({ headers }) => Number(/^bytes=(\d+)-$/.exec(headers['range'] ?? 'bytes=0-')?.[1]));
  return { server, fake: fakeMedia, file, bytes, starts };
}

/** Expects the whole file and no other file in the folder. */
async function expectSaved(bytes: Buffer): Promise<void> {
  expect((await readFile(path)).equals(bytes)).toBe(true);
  expect(await readdir(folder)).toEqual(['speech.mp3']);
}

describe('saveTo()', () => {
  it('saves a file and reports its progress', async () => {
    const { file, bytes } = await serveFinishedFile();
    const seen: TransferProgress[] = [];
    await saveTo(file, path, { onProgress: (progress) => seen.push(progress) });
    await expectSaved(bytes());
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.at(-1)).toEqual({ receivedBytes: 500_000, totalBytes: 500_000 });
    const received = seen.map(({ receivedBytes }) => receivedBytes);
    expect(received).toEqual(received.toSorted((a, b) => a - b));
  });

  it('saves each file of a queue by a pattern, and creates the folder', async () => {
    const { media } = await serve({ media: { durations: () => 0 } });
    const jobs = ['One', 'Two'].map((content) => ({ content, voiceId: 'voice_1' }));
    const save = saveTo(join(folder, 'speech', '{index}-{fileId}.mp3'));
    const ids: string[] = [];
    for await (const { file } of media().queue(jobs, { save })) {
      ids.push(file?.fileId ?? '');
    }
    const names = await readdir(join(folder, 'speech'));
    expect(names.map((name) => name.replace(/^\d-/, '')).sort()).toEqual(
      ids.map((id) => `${id}.mp3`).sort(),
    );
    expect(names.map((name) => name[0]).sort()).toEqual(['0', '1']);
  });

  it('resolves a relative pattern when `saveTo` is called, not when a file is saved', async () => {
    const { file, bytes } = await serveFinishedFile();
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
    const save = saveTo('speech/{fileId}.mp3');
    cwd.mockReturnValue(join(folder, 'elsewhere'));
    await save(file, { index: 0 });
    cwd.mockRestore();
    expect(await readdir(folder)).toEqual(['speech']);
    const saved = await readFile(join(folder, 'speech', `${file.fileId}.mp3`));
    expect(saved.equals(bytes())).toBe(true);
  });

  it('escapes ids so that a pattern cannot leave its folder', async () => {
    const { file, bytes } = await serveFinishedFile();
    const content = bytes();
    Object.defineProperty(file, 'fileId', { value: '../up' });
    await saveTo(join(folder, '{fileId}'))(file, { index: 0 });
    expect((await readFile(join(folder, '_%2Fup'))).equals(content)).toBe(true);
  });

  it('rejects a pattern that gives every file the same path', () => {
    expect(() => saveTo('videos/cat.mp4')).toThrow(ConfigurationError);
  });

  it('rejects an empty file', async () => {
    const { file } = await serveFinishedFile({ fileBytes: 0 });
    await expect(saveTo(file, path)).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
    expect(await readdir(folder)).toEqual([]);
  });

  it('sends no API key to the server of the file', async () => {
    const { fake, file } = await serveFinishedFile();
    fake.fail(download, { truncate: true });
    await saveTo(file, path);
    const sent = fake.requests.filter(({ endpoint }) => endpoint === download);
    expect(sent).toHaveLength(2);
    const words = sent.map(({ headers }) => JSON.stringify(headers));
    expect(words.filter((text) => text.includes(fake.apiKey))).toEqual([]);
  });

  it('replaces an existing file once the new one is complete', async () => {
    const { fake, file, bytes } = await serveFinishedFile();
    await writeFile(path, 'old');
    fake.fail(download, { status: 404 });
    await expect(saveTo(file, path)).rejects.toBeInstanceOf(NotFoundError);
    await expectSaved(Buffer.from('old'));
    await saveTo(file, path);
    await expectSaved(bytes());
  });

  it('continues if the `onProgress` callback throws', async () => {
    const { file, bytes } = await serveFinishedFile();
    const onProgress = () => {
      throw new Error('Not my day.');
    };
    await saveTo(file, path, { onProgress });
    await expectSaved(bytes());
    // TypeScript accepts an async callback as `void`; an unhandled rejection would fail the run.
    const later = (): unknown => Promise.reject(new Error('Not my day either.'));
    await saveTo(file, path, { onProgress: later });
    await expectSaved(bytes());
  });

  it.each<[string, (file: MediaFile) => unknown, (path: string) => unknown, string]>([
    [
      'a job',
      () => media.job({ fileId: 'file_1', kind: 'audio' }),
      (to) => to,
      'got a job: pass `await job.waitForFile()`',
    ],
    ['a promise', (file) => Promise.resolve(file), (to) => to, 'got a promise: `await` it first'],
    ['no file', () => undefined, (to) => to, '`file` must be a finished file; got undefined'],
    ['no path', (file) => file, () => undefined, '`path` must be a string; got undefined'],
    ['a URL', (file) => file, pathToFileURL, 'got a URL: pass `fileURLToPath(url)`'],
  ])('says what is wrong with its arguments: %s', async (_, what, to, message) => {
    const { fake, file } = await serveFinishedFile();
    // as: plain JavaScript may pass anything
    const { error } = await settled(() => saveTo(what(file) as MediaFile, to(path) as string));
    expect(error).toMatchObject({ name: 'InvalidRequestError', outcome: 'not-sent' });
    expect((error as Error).message).toContain(message);
    expect(arrivals(fake.requests, download)).toBe(0);
  });

  it('rejects if the folder does not exist', async () => {
    const { fake, file } = await serveFinishedFile();
    const wrong = join(folder, 'videos', 'speech.mp3');
    const { error } = await settled(() => saveTo(file, wrong));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      code: 'FOLDER_MISSING',
      message: `The folder ${join(folder, 'videos')} does not exist. Create it before you save a file into it.`,
    });
    expect(arrivals(fake.requests, download)).toBe(0);
  });

  it('rejects if the path is a folder', async () => {
    const { fake, file } = await serveFinishedFile();
    await mkdir(path);
    const message = `${path} is a folder. Give \`saveTo()\` the path of a file.`;
    await expect(saveTo(file, path)).rejects.toThrow(message);
    expect(arrivals(fake.requests, download)).toBe(0);
  });
});

describe('saveTo() over a bad connection', () => {
  it('continues at the byte where the connection broke', async () => {
    const { fake, file, bytes, starts } = await serveFinishedFile();
    fake.fail(download, { truncate: true, times: 2 });
    await saveTo(file, path);
    await expectSaved(bytes());
    const [first, second = 0, third = 0] = starts();
    expect(first).toBe(0);
    expect(second).toBeGreaterThan(0);
    expect(second).toBeLessThanOrEqual(250_000);
    expect(third).toBeGreaterThan(second);
    expect(third).toBeLessThanOrEqual(375_000);
  });

  it('continues at the byte where the connection stalled', async () => {
    const { fake, file, bytes, starts } = await serveFinishedFile();
    fake.fail(download, { stall: true });
    fake.fail(download, { hang: true, after: 1 });
    await saveTo(file, path, { timeout: 500 });
    await expectSaved(bytes());
    expect(starts()).toEqual([0, 250_000, 250_000]);
  });

  it.each([
    ['the connection is dropped', { drop: true, times: 3 }],
    ['the server fails', { status: 503, times: 3 }],
    ['the server is busy', { status: 429, times: 3 }],
  ])('tries again if %s', async (_, fault) => {
    const { fake, file, bytes } = await serveFinishedFile();
    fake.fail(download, fault);
    await saveTo(file, path);
    await expectSaved(bytes());
  });

  it('starts over if the file has changed', async () => {
    const { fake, file, bytes, starts } = await serveFinishedFile();
    fake.fail(download, { truncate: true });
    const seen: number[] = [];
    await saveTo(file, path, {
      onProgress: ({ receivedBytes }) => {
        seen.push(receivedBytes);
        fake.files[0]!.revision = 2;
      },
    });
    await expectSaved(bytes());
    expect(starts()).toHaveLength(2);
    expect(seen.some((received, index) => received < (seen[index - 1] ?? 0))).toBe(true);
  });

  it('starts over if the server does not support ranges', async () => {
    const { fake, file, bytes } = await serveFinishedFile({ ranges: false });
    fake.fail(download, { truncate: true, times: 2 });
    await saveTo(file, path);
    await expectSaved(bytes());
  });

  it('gives up after five connections that brought no new bytes', async () => {
    const { fake, file } = await serveFinishedFile();
    fake.fail(download, { truncate: true });
    fake.fail(download, { drop: true, after: 1, times: Infinity });
    const { error } = await settled(() => saveTo(file, path, { retries: 5 }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      code: 'DOWNLOAD_FAILED',
      message: expect.stringMatching(
        /^The download of file_\d+ failed repeatedly, the last time after \d+ of 500000 bytes\. Try again later\.$/,
      ) as string,
    });
    // The first connection brought half of the file, and counts as the first of five.
    expect(arrivals(fake.requests, download)).toBe(6);
    expect(await readFile(path).catch(() => 'nothing')).toBe('nothing');
  });

  it('continues in a later call after it gave up', async () => {
    const { fake, file, bytes, starts } = await serveFinishedFile();
    fake.fail(download, { truncate: true });
    fake.fail(download, { drop: true, after: 1 });
    await expect(saveTo(file, path, { retries: 1 })).rejects.toBeInstanceOf(ConnectionError);
    expect(await readdir(folder)).toHaveLength(2);
    await saveTo(file, path);
    await expectSaved(bytes());
    expect(starts().at(-1)).toBeGreaterThan(100_000);
  });

  it('keeps the downloaded part if the server was unreachable for a whole call', async () => {
    const { fake, file, bytes, starts } = await serveFinishedFile();
    fake.fail(download, { truncate: true });
    fake.fail(download, { drop: true, after: 1, times: 2 });
    await expect(saveTo(file, path, { retries: 1 })).rejects.toBeInstanceOf(ConnectionError);
    await expect(saveTo(file, path, { retries: 0 })).rejects.toBeInstanceOf(ConnectionError);
    await saveTo(file, path);
    await expectSaved(bytes());
    expect(starts().at(-1)).toBeGreaterThan(100_000);
  });

  it('leaves no part file behind if it could not be continued', async () => {
    const { file } = await serveFinishedFile();
    const headers = { 'content-length': '12' };
    const fetch = () =>
      Promise.resolve(new Response(new TextEncoder().encode('Good'), { headers })); // no version (ETag or Last-Modified)
    const unnamed = new MediaFile(file.fileId, file.url, { fetch });
    await expect(saveTo(unnamed, path, { retries: 1 })).rejects.toBeInstanceOf(ConnectionError);
    expect(await readdir(folder)).toEqual([]);
  });

  it('does not continue with another version of the file', async () => {
    const { fake, file, bytes } = await serveFinishedFile();
    fake.fail(download, { truncate: true });
    await expect(saveTo(file, path, { retries: 0 })).rejects.toBeInstanceOf(ConnectionError);
    fake.files[0]!.revision = 2;
    await saveTo(file, path);
    await expectSaved(bytes());
  });

  it('does not continue with another file', async () => {
    const { fake, file } = await serveFinishedFile();
    fake.fail(download, { truncate: true });
    await expect(saveTo(file, path, { retries: 0 })).rejects.toBeInstanceOf(ConnectionError);
    const other = await serveFinishedFile();
    await saveTo(new MediaFile('file_2', other.file.url, { fetch: undefined }), path);
    expect((await readFile(path)).equals(other.bytes())).toBe(true);
    expect(other.starts()).toEqual([0]);
  });

  it('waits as long as the server asks', async () => {
    const { fake, file, bytes } = await serveFinishedFile();
    fake.fail(download, { status: 503, headers: { 'Retry-After': '1' } });
    const at = performance.now();
    await saveTo(file, path);
    expect(performance.now() - at).toBeGreaterThanOrEqual(990);
    await expectSaved(bytes());
  });

  it('does not wait if the server asks for an hour', async () => {
    const { fake, file } = await serveFinishedFile();
    fake.fail(download, { status: 503, headers: { 'Retry-After': '3600' } });
    await expect(saveTo(file, path)).rejects.toMatchObject({
      status: 503,
      retryAfterMs: 3_600_000,
    });
  });

  it.each([400, 403, 404, 410])('checks the status to get a new URL after %i', async (status) => {
    const { fake, file, bytes } = await serveFinishedFile();
    fake.fail(download, { status });
    const fresh = file.url.replace('.mp3', '-2.mp3');
    fake.files[0]!.download = fresh;
    const before = arrivals(fake.requests, 'GET /v1/generate/status');
    await saveTo(file, path);
    await expectSaved(bytes());
    expect(file.url).toBe(fresh);
    expect(arrivals(fake.requests, 'GET /v1/generate/status')).toBe(before + 1);
  });

  it('does not repeat a request that was rejected', async () => {
    const { fake, file } = await serveFinishedFile();
    fake.fail(download, { status: 403, times: Infinity });
    await expect(saveTo(file, path)).rejects.toMatchObject({ status: 403 });
    expect(arrivals(fake.requests, download)).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('saveTo() with a misbehaving server', () => {
  /** A file whose server gives these responses, one after the other. */
  function fileAnswering(...answers: (() => Response)[]) {
    let count = 0;
    const fetch = () => Promise.resolve(answers[Math.min(count++, answers.length - 1)]!());
    return new MediaFile('file_1', 'https://cdn.test/file_1.mp3', { fetch });
  }
  const whole =
    (text: string, headers = {}) =>
    () =>
      new Response(new TextEncoder().encode(text), { headers });
  const part =
    (text: string, range: string, headers = {}) =>
    () =>
      new Response(new TextEncoder().encode(text), {
        status: 206,
        headers: { 'content-range': range, ...headers },
      });

  it('continues if fewer bytes came than announced', async () => {
    const short = whole('Good', { 'content-length': '12', etag: '"a"' });
    await saveTo(fileAnswering(short, part(' morning', 'bytes 4-11/12')), path);
    await expectSaved(Buffer.from('Good morning'));
  });

  it('starts over if the response does not prove that the rest is of the same version', async () => {
    const short = whole('Good', { 'content-length': '12' });
    await saveTo(fileAnswering(short, whole('Fair evening', { 'content-length': '12' })), path);
    await expectSaved(Buffer.from('Fair evening'));
  });

  it('starts over if more bytes came than announced', async () => {
    const long = whole('Good morning!?', { 'content-length': '12' });
    await saveTo(fileAnswering(long, whole('Good morning', { 'content-length': '12' })), path);
    await expectSaved(Buffer.from('Good morning'));
  });

  it.each([
    ['at another offset', part('morning', 'bytes 5-11/12')],
    ['of another file', part(' evening', 'bytes 4-11/12', { etag: '"b"' })],
    ['of a file of another size', part(' evenings', 'bytes 4-12/13')],
    ['without a valid range', part(' morning', 'somewhere')],
    ['beyond the end', () => new Response(null, { status: 416 })],
  ])('starts over if the server sends a part %s', async (_, wrong) => {
    const headers = { 'content-length': '12', etag: '"a"' };
    await saveTo(
      fileAnswering(whole('Good', headers), wrong, whole('Good morning', headers)),
      path,
    );
    await expectSaved(Buffer.from('Good morning'));
  });

  it('asks for uncompressed bytes, and rejects compressed ones', async () => {
    const asked: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = (_, init) => {
      asked.push(new Headers(init?.headers).get('accept-encoding'));
      const headers = { 'content-encoding': 'gzip', 'content-length': '3' };
      return Promise.resolve(new Response(new TextEncoder().encode('Good morning'), { headers }));
    };
    const saving = saveTo(new MediaFile('file_1', 'https://cdn.test/1.mp3', { fetch }), path);
    await expect(saving).rejects.toMatchObject({ code: 'DOWNLOAD_ENCODED' });
    expect(asked).toEqual(['identity']);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['nothing (204)', () => new Response(null, { status: 204 })],
    ['a part that was not requested', part('Good', 'bytes 0-3/12')],
    ['a web page', whole('<html>Sign in</html>', { 'content-type': 'text/html; charset=utf-8' })],
  ])('does not save %s', async (_, answer) => {
    await expect(saveTo(fileAnswering(answer), path)).rejects.toMatchObject({
      name: 'UnexpectedResponseError',
      code: 'DOWNLOAD_FAILED',
    });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('saveTo() and an abort', () => {
  it.each(['hang', 'stall', 'truncate'] as const)('rejects at once in a %s', async (kind) => {
    const { fake, file } = await serveFinishedFile();
    fake.fail(download, { [kind]: true, times: Infinity });
    const controller = new AbortController();
    const saving = settled(() => saveTo(file, path, { signal: controller.signal }));
    // By now saveTo() waits for a response, for bytes, or between two connections.
    while (arrivals(fake.requests, download) < 1) {
      await new Promise(setImmediate);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    const at = performance.now();
    controller.abort('enough');
    expect((await saving).error).toBe('enough');
    expect(performance.now() - at).toBeLessThan(5_000); // without the abort, an attempt takes 30 s
    expect(await readdir(folder)).toEqual([]);
  });

  it('sends no request if the signal is already aborted', async () => {
    const { fake, file } = await serveFinishedFile();
    await expect(saveTo(file, path, { signal: AbortSignal.abort('no') })).rejects.toBe('no');
    expect(arrivals(fake.requests, download)).toBe(0);
  });
});
