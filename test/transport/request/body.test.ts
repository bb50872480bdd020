import { InvalidRequestError } from 'postreel';
import { describe, expect, it } from 'vitest';
import { jsonText, wireValue } from '../../../src/core/body.js';
import { multipartBody } from '../../../src/core/upload.js';

const facts = {
  field: 'file',
  filename: 'upload.csv',
  contentType: 'text/csv',
  maxBytes: 1024 * 1024,
  form: multipartBody,
};

const jsonBody = (value: unknown, maxBytes?: number) => jsonText(wireValue(value), maxBytes);

function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidRequestError);
    const [{ field, message } = { field: '', message: '' }] = (error as InvalidRequestError)
      .fieldErrors;
    return `${field}: ${message}`;
  }
  throw new Error('it was taken');
}

const nested = (depth: number): object => (depth === 0 ? {} : { in: nested(depth - 1) });
const circle: { list: unknown[] } = { list: [] };
circle.list.push(circle);

describe('a JSON body', () => {
  it.each<[string, unknown, string]>([
    ['NaN', { data: { age: Number.NaN } }, 'data.age: must be a number; got NaN'],
    ['an infinity', [1, Number.POSITIVE_INFINITY], '[1]: must be a number; got Infinity'],
    ['NaN alone', Number.NaN, 'body: must be a number; got NaN'],
    ['a big integer', { id: 1n }, 'id: cannot be sent as JSON; got a bigint'],
    ['a function', { a: [{ b: () => 0 }] }, 'a[0].b: cannot be sent as JSON; got a function'],
    ['a symbol', { s: Symbol('x') }, 's: cannot be sent as JSON; got a symbol'],
    ['an invalid date', { at: new Date(Number.NaN) }, 'at: is not a date'],
    ['an invalid date alone', new Date(Number.NaN), 'body: is not a date'],
    ['a circle', circle, 'list[0]: refers to itself'],
  ])('refuses %s, which JSON would change or not take', (_, value, expected) => {
    expect(refusalOf(() => jsonBody(value))).toBe(expected);
  });

  it('refuses what is nested beyond reason, and takes what is nested deeply', () => {
    expect(refusalOf(() => jsonBody(nested(102)))).toMatch(/(\.in){100}: is nested too deeply$/);
    expect(jsonBody(nested(100))).toBe(JSON.stringify(nested(100)));
  });

  it('takes everything else as JSON does', () => {
    const shared = { a: 1 };
    const value = { n: null, u: undefined, at: new Date(0), twice: [shared, shared], no: false };
    expect(jsonBody(value)).toBe(
      '{"n":null,"at":"1970-01-01T00:00:00.000Z","twice":[{"a":1},{"a":1}],"no":false}',
    );
  });

  it('is measured in bytes, not in characters', () => {
    expect(jsonBody('é'.repeat(9), 20)).toHaveLength(11);
    expect(refusalOf(() => jsonBody('é'.repeat(10), 21))).toBe(
      ': the whole message takes at most 0.01 MB; got 0.01 MB',
    );
    expect(jsonBody('a'.repeat(1024), 1026)).toHaveLength(1026);
    expect(refusalOf(() => jsonBody('a'.repeat(3 * 1024 * 1024), 2 * 1024 * 1024))).toBe(
      ': the whole message takes at most 2 MB; got 3.01 MB',
    );
  });
});

describe('a file', () => {
  const bytes = new TextEncoder().encode('a,b');

  it.each<[string, Parameters<typeof multipartBody>[0], string, string]>([
    ['bytes', bytes, 'upload.csv', 'text/csv'],
    ['a buffer', bytes.buffer, 'upload.csv', 'text/csv'],
    ['a blob', new Blob([bytes], { type: 'text/plain' }), 'upload.csv', 'text/plain'],
    ['a blob without a type', new Blob([bytes]), 'upload.csv', 'text/csv'],
    ['a file', new File([bytes], 'own.csv', { type: 'text/x' }), 'own.csv', 'text/x'],
    ['a file without a type', new File([bytes], 'own.csv'), 'own.csv', 'text/csv'],
    ['named bytes', { data: bytes, filename: 'n.csv', contentType: 'text/n' }, 'n.csv', 'text/n'],
    ['bytes in an object', { data: bytes }, 'upload.csv', 'text/csv'],
    ['a text in an object', { data: 'a,b' }, 'upload.csv', 'text/csv'],
    [
      'a file in an object',
      { data: new File([bytes], 'in.csv', { type: 'text/i' }) },
      'in.csv',
      'text/i',
    ],
    ['a blob in an object', { data: new Blob([bytes]), filename: 'n.csv' }, 'n.csv', 'text/csv'],
  ])('%s keeps its name and type, or gets the usual ones', async (_, file, name, type) => {
    const part = (await formOf(multipartBody(file, facts))).get('file') as File;
    expect([part.name, part.type, await part.text()]).toEqual([name, type, 'a,b']);
  });

  it('goes under another name where the caller says so', async () => {
    const named = await formOf(multipartBody({ data: bytes, fieldName: 'contacts' }, facts));
    expect([...named.keys()]).toEqual(['contacts']);
    const usual = await formOf(multipartBody({ data: bytes }, facts));
    expect([...usual.keys()]).toEqual(['file']);
  });

  it('has a name that cannot break out of their header', async () => {
    const filename = 'a"\r\nX-Evil: 1.csv';
    const body = multipartBody({ data: bytes.buffer, filename, contentType: 'text/n' }, facts);
    const form = await formOf(body);
    expect([...form.keys()]).toEqual(['file']);
    const file = form.get('file') as File;
    expect([file.type, await file.text()]).toEqual(['text/n', 'a,b']);
    expect(decodeURIComponent(file.name)).toBe(filename);
    const view = bytes.subarray(1);
    const part = (await formOf(multipartBody({ data: view }, facts))).get('file') as File;
    expect(await part.text()).toBe(',b');
    const large = { data: new Uint8Array(1024 * 1024 + 1) };
    expect(refusalOf(() => multipartBody(large, facts))).toBe(
      'file: must be at most 1 MB; got 1.01 MB',
    );
  });

  it('that is too big is refused before it is sent', () => {
    const limit = new Blob([new Uint8Array(1024 * 1024)]);
    expect(multipartBody(limit, facts).content.size).toBeGreaterThan(limit.size);
    expect(refusalOf(() => multipartBody(new Blob([limit, 'a']), facts))).toBe(
      'file: must be at most 1 MB; got 1.01 MB',
    );
    const { field, filename, contentType, form } = facts;
    const unlimited = { field, filename, contentType, form };
    expect(multipartBody(new Blob([limit, 'a']), unlimited).content.size).toBeGreaterThan(
      limit.size,
    );
  });

  it.each(['a,b', 7, undefined, null])('cannot be %j', (value) => {
    expect(refusalOf(() => multipartBody(value as never, facts))).toBe(
      'file: must be a File, a Blob, bytes or { data, filename, contentType }; for a path use `csvFile()` or `imageFile()` of postreel/node',
    );
  });
});

/** A body as a service reads it. */
async function formOf(body: ReturnType<typeof multipartBody>): Promise<FormData> {
  const headers = { 'content-type': body.contentType };
  return new Response(body.content, { headers }).formData();
}
