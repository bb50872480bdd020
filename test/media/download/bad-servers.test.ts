import { MediaFile } from 'postreel';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ending, inTime } from '../../support/media/fake-time.js';

beforeAll(() => import('../../../src/media/download/transfer.js')); // files are not read on a fake clock
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

type Headers = Record<string, string>;

const whole =
  (text: string, headers: Headers = {}) =>
  () =>
    new Response(new TextEncoder().encode(text), { headers });
const part =
  (text: string, range: string, headers: Headers = {}) =>
  () =>
    new Response(new TextEncoder().encode(text), {
      status: 206,
      headers: { 'content-range': range, ...headers },
    });
const status =
  (code: number, headers: Headers = {}) =>
  () =>
    new Response(null, { status: code, headers });
const breaking =
  (text: string, headers: Headers = {}) =>
  () =>
    new Response(brokenAfter(text), { headers });

/** A file whose server gives these answers in turn, the last one for ever. */
function answered(...answers: (() => Response)[]) {
  const asked: { range: string | null; ifRange: string | null; at: number }[] = [];
  const fetch: typeof globalThis.fetch = (_, init) => {
    const headers = new Headers(init?.headers);
    asked.push({ range: headers.get('range'), ifRange: headers.get('if-range'), at: Date.now() });
    return Promise.resolve(answers[Math.min(asked.length, answers.length) - 1]!());
  };
  const file = new MediaFile('file_1', 'https://cdn.test/file_1.mp3', { fetch });
  const text = async () => (await inTime(file.blob())).text();
  return { file, text, asked, ranges: () => asked.map(({ range }) => range) };
}

const named = { 'content-length': '12', etag: '"a"' };
const unnamed = { 'content-length': '12' };

describe('a download', () => {
  it('does not append a part with another offset', async () => {
    const wrong = part('morning', 'bytes 5-11/12', { etag: '"a"' });
    const { text, ranges } = answered(whole('Good', named), wrong, whole('Good morning', named));
    expect(await text()).toBe('Good morning');
    expect(ranges()).toEqual([null, 'bytes=4-', null]);
  });

  it('appends a part that has the status 200', async () => {
    const rest = { ...named, 'content-length': '8', 'content-range': 'bytes 4-11/12' };
    const { text, ranges } = answered(whole('Good', named), whole(' morning', rest));
    expect(await text()).toBe('Good morning');
    expect(ranges()).toEqual([null, 'bytes=4-']);
  });

  it('does not take a part with another offset for the whole file, though its status is 200', async () => {
    const rest = { ...named, 'content-length': '7', 'content-range': 'bytes 5-11/12' };
    const wrong = whole('morning', rest);
    const { text, ranges } = answered(whole('Good', named), wrong, whole('Good morning', named));
    expect(await text()).toBe('Good morning');
    expect(ranges()).toEqual([null, 'bytes=4-', null]);
  });

  it('does not append a part of another version', async () => {
    const wrong = part(' evening', 'bytes 4-11/12', { etag: '"b"' });
    const { text } = answered(whole('Good', named), wrong, whole('Good morning', named));
    expect(await text()).toBe('Good morning');
  });

  it('does not append a part that is compressed', async () => {
    const wrong = part('????????', 'bytes 4-11/12', { etag: '"a"', 'content-encoding': 'gzip' });
    const { text } = answered(whole('Good', named), wrong, whole('Good morning', named));
    expect(await text()).toBe('Good morning');
  });

  it('is not complete while the last byte is missing', async () => {
    const { text, ranges } = answered(whole('Good mornin', named), part('g', 'bytes 11-11/12'));
    expect(await text()).toBe('Good morning');
    expect(ranges()).toEqual([null, 'bytes=11-']);
  });

  it('is not complete while the last byte is missing, though a part does not repeat the size', async () => {
    const { text, ranges } = answered(
      whole('Good', named),
      part(' morn', 'bytes 4-8/*', { etag: '"a"' }),
      part('ing', 'bytes 9-11/*', { etag: '"a"' }),
    );
    expect(await text()).toBe('Good morning');
    expect(ranges()).toEqual([null, 'bytes=4-', 'bytes=9-']);
  });

  it('starts over when the server sends one byte more than it announced', async () => {
    const { text } = answered(whole('Good morning!', named), whole('Good morning', named));
    expect(await text()).toBe('Good morning');
  });

  it('appends nothing when the file has the same size but may be another one', async () => {
    const { text } = answered(whole('Good', unnamed), whole('Fair evening', unnamed));
    expect(await text()).toBe('Fair evening');
  });

  it('skips the bytes it has when the server sends the same file from its start', async () => {
    const { text, ranges } = answered(whole('Good', named), whole('Good morning', named));
    expect(await text()).toBe('Good morning');
    expect(ranges()).toEqual([null, 'bytes=4-']);
  });

  const date = 'Mon, 23 Nov 2026 08:00:00 GMT';
  it.each<[string, Headers, string]>([
    ['a strong ETag', { etag: '"a"', 'last-modified': date }, '"a"'],
    ['a date', { 'last-modified': date }, date],
    ['a date beside a weak ETag', { etag: 'W/"a"', 'last-modified': date }, date],
  ])(
    'requests the rest of the same version when the response has %s',
    async (_, version, ifRange) => {
      const headers = { 'content-length': '12', ...version };
      const rest = part(' morning', 'bytes 4-11/12', version);
      const { text, asked } = answered(whole('Good', headers), rest);
      expect(await text()).toBe('Good morning');
      expect(asked[1]).toMatchObject({ range: 'bytes=4-', ifRange });
    },
  );

  it.each<[string, Headers]>([
    ['nothing', {}],
    ['a weak ETag', { etag: 'W/"a"' }],
  ])('starts over when the version is identified only by %s', async (_, version) => {
    const headers = { 'content-length': '12', ...version };
    const { text, ranges } = answered(whole('Good', headers), whole('Fair evening', headers));
    expect(await text()).toBe('Fair evening');
    expect(ranges()).toEqual([null, null]);
  });

  it('does not write a second version to a stream that has begun', async () => {
    const { file } = answered(breaking('Good', unnamed), whole('Fair evening', unnamed));
    const chunks: string[] = [];
    const stream = new WritableStream<Uint8Array>({
      write: (chunk) => void chunks.push(new TextDecoder().decode(chunk)),
    });
    const { error } = await inTime(ending(file.pipeTo(stream)));
    expect(error).toMatchObject({ code: 'DOWNLOAD_CHANGED', outcome: 'rejected' });
    expect(chunks).toEqual(['Good']);
  });

  it('starts over after the end of a file that has become shorter', async () => {
    const short = { 'content-length': '3', etag: '"b"' };
    const { text, ranges } = answered(whole('Good', named), status(416), whole('Bye', short));
    expect(await text()).toBe('Bye');
    expect(ranges()).toEqual([null, 'bytes=4-', null]);
  });

  it('rejects compressed bytes, because it could not check that all of them arrived', async () => {
    const gzip = { 'content-length': '3', 'content-encoding': 'gzip' };
    const { file } = answered(whole('Good', gzip));
    const refused = { code: 'DOWNLOAD_ENCODED', outcome: 'rejected' };
    expect((await inTime(ending(file.blob()))).error).toMatchObject(refused);
    expect((await inTime(ending(file.stream()))).error).toMatchObject(refused);
    const toNowhere = new WritableStream<Uint8Array>();
    expect((await inTime(ending(file.pipeTo(toNowhere)))).error).toMatchObject(refused);
  });

  it('starts over in a browser when the bytes are compressed, because their offsets mean nothing', async () => {
    vi.stubGlobal('window', { document: {} });
    const gzip = { ...named, 'content-encoding': 'gzip' };
    const { text, ranges } = answered(breaking('Good', gzip), whole('Good morning', gzip));
    expect(await text()).toBe('Good morning');
    expect(ranges()).toEqual([null, null]);
  });

  it('does not compare the length of compressed bytes with the file in a browser', async () => {
    vi.stubGlobal('window', { document: {} });
    const gzip = { 'content-length': '3', 'content-encoding': 'gzip' };
    expect(await answered(whole('Good morning', gzip)).text()).toBe('Good morning');
  });

  it.each([
    ['a part that was not asked for', part('Good', 'bytes 0-3/12')],
    ['a page', whole('<html>Sign in</html>', { 'content-type': 'text/html' })],
    ['an answer without content', status(204)],
  ])('does not use %s', async (_, answer) => {
    const { file } = answered(answer);
    const { error } = await inTime(ending(file.blob()));
    expect(error).toMatchObject({ name: 'UnexpectedResponseError', code: 'DOWNLOAD_FAILED' });
  });
});

describe('the pauses of a download', () => {
  it('last at most 30 s when the server names no time', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const { file, asked } = answered(status(503));
    await inTime(ending(file.blob({ retries: 12 })));
    const waits = asked.slice(1).map(({ at }, index) => at - asked[index]!.at);
    expect(waits.slice(0, 3)).toEqual([250, 500, 1_000]);
    expect(waits.slice(-4)).toEqual([30_000, 30_000, 30_000, 30_000]);
  });

  it('last ten minutes when the server asks for them', async () => {
    const { text, asked } = answered(status(429, { 'retry-after': '600' }), whole('Good morning'));
    expect(await text()).toBe('Good morning');
    expect(asked[1]!.at - asked[0]!.at).toBe(600_000);
  });

  it('end the download when the server asks for more', async () => {
    const { file, asked } = answered(status(429, { 'retry-after': '601' }));
    const { error } = await inTime(ending(file.blob()));
    expect(error).toMatchObject({ status: 429, retryAfterMs: 601_000 });
    expect(asked).toHaveLength(1);
  });

  it.each([2 ** 31, Number.POSITIVE_INFINITY])(
    'may be longer than a timer lasts: %d ms',
    async (timeout) => {
      const slow: typeof fetch = (_, init) =>
        new Promise((resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(new Error('too late')));
          setTimeout(() => resolve(new Response(new TextEncoder().encode('Good morning'))), 60_000);
        });
      const file = new MediaFile('file_1', 'https://cdn.test/file_1.mp3', { fetch: slow });
      const blob = await inTime(file.blob({ timeout, retries: 0 }));
      expect(await blob.text()).toBe('Good morning');
    },
  );
});

function brokenAfter(text: string): ReadableStream<Uint8Array> {
  const chunks = [new TextEncoder().encode(text)];
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk) {
        controller.enqueue(chunk);
      } else {
        controller.error(new TypeError('terminated'));
      }
    },
  });
}
