import { MediaFile } from 'postreel';
import { describe, expect, it } from 'vitest';
// The first part of `../../support/media/fake-time.js` would bring a clock: no time passes here.
import '../../../src/media/download/transfer.js';

const media = new Uint8Array([0, 0, 0, 32, 0x66, 0x74, 0x79, 0x70, 0x69, 0x73, 0x6f, 0x6d]);

/** A file whose link is answered like this, and a fresh link, if there is one, with a film. */
function fileThatIs(answer: () => Response, { hasFresh = false } = {}) {
  const asked: string[] = [];
  const fetch = (input: RequestInfo | URL) => {
    const url = input as string; // a file asks for its URL
    asked.push(url);
    return Promise.resolve(url.endsWith('fresh') ? new Response(media) : answer());
  };
  const freshUrl = () => Promise.resolve(hasFresh ? 'https://cdn.test/fresh' : undefined);
  const file = new MediaFile('file_1', 'https://cdn.test/old', { fetch, freshUrl }); // as a client makes it
  return { file, asked };
}

const withType = (body: string, type: string) => () =>
  new Response(new TextEncoder().encode(body), { headers: { 'content-type': type } });

const noFiles: [string, () => Response][] = [
  ['a page', withType('<!doctype html><p>Expired', 'text/html')],
  ['a page in capitals', withType('<HTML>', 'TEXT/HTML; charset=utf-8')],
  ['JSON', withType('{"message":"expired"}', 'application/json')],
  ['a problem', withType('{"title":"expired"}', 'application/problem+json')],
  ['XML of a store', withType('<?xml version="1.0"?><Error/>', 'application/xml')],
  ['a text', withType('Access denied', 'text/plain')],
  ['JSON under the type of a film', withType('\n {"message":"expired"}', 'video/mp4')],
  ['a page under no type', () => new Response(new TextEncoder().encode('\uFEFF<html>'))],
  ['nothing', () => new Response(null)],
  ['an empty body', withType('', 'video/mp4')],
  ['a length of 0', () => new Response(null, { headers: { 'content-length': '0' } })],
];

describe('a response with 200 that is not a media file', () => {
  it.each(noFiles)('is not returned: %s', async (_, answer) => {
    const { file } = fileThatIs(answer);
    const expected = { name: 'UnexpectedResponseError', code: 'DOWNLOAD_FAILED' };
    await expect(file.blob()).rejects.toMatchObject(expected);
    await expect(file.response()).rejects.toMatchObject(expected);
    await expect(file.stream()).rejects.toMatchObject(expected);
    await expect(file.pipeTo(new WritableStream())).rejects.toMatchObject(expected);
  });

  it.each(noFiles)('is requested once more with a new URL: %s', async (_, answer) => {
    const { file, asked } = fileThatIs(answer, { hasFresh: true });
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(media);
    expect(asked).toEqual(['https://cdn.test/old', 'https://cdn.test/fresh']);
  });

  it('has an error that says what it is', async () => {
    const { file } = fileThatIs(noFiles[2]![1]);
    await expect(file.blob()).rejects.toThrow(
      'The file file_1 could not be downloaded (it is application/json, not a media file). Its URL may have expired: check its status for a new one.',
    );
  });
});

describe('a response that may be a media file', () => {
  it.each([
    ['a film', () => new Response(media, { headers: { 'content-type': 'video/mp4' } })],
    [
      'bytes',
      () => new Response(media, { headers: { 'content-type': 'application/octet-stream' } }),
    ],
    ['an ID3 tag', () => new Response(new TextEncoder().encode('ID3\u0003'))],
    ['a wave', () => new Response(new TextEncoder().encode('RIFF$\0\0\0WAVEfmt '))],
    ['bytes that begin like a text', () => new Response(new Uint8Array([0x7b, 0x22, 0, 1]))],
  ])('is returned: %s', async (_, answer) => {
    const { file } = fileThatIs(answer);
    const bytes = new Uint8Array(await answer().arrayBuffer());
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(bytes);
    const response = await file.response();
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
  });
});
