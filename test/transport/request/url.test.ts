import { ConfigurationError, InvalidRequestError } from 'postreel';
import { describe, expect, it } from 'vitest';
import { fillPath, normalizeBaseUrl, queryString } from '../../../src/core/request.js';

/** What a function throws. */
function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('a base address', () => {
  it.each([
    ['https://api.test', 'https://api.test'],
    ['https://api.test/', 'https://api.test'],
    ['https://api.test/base//', 'https://api.test/base'],
    ['HTTP://API.test:8080/Base', 'http://api.test:8080/Base'],
  ])('%s becomes %s', (given, expected) => {
    expect(normalizeBaseUrl(given)).toBe(expected);
  });

  it.each([
    ['api.test', 'is not an absolute address'],
    ['', 'is not an absolute address'],
    ['ftp://api.test', 'must start with https:// or http://'],
    ['https://ann@api.test', 'must not hold credentials'],
    ['https://:pass@api.test', 'must not hold credentials'],
    ['https://api.test?a=1', 'must not hold credentials'],
    ['https://api.test#a', 'must not hold credentials'],
  ])('%s is refused', (given, reason) => {
    const error = thrownBy(() => normalizeBaseUrl(given));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty('code', 'INVALID_BASE_URL');
    expect((error as Error).message).toContain(reason);
  });
});

describe('the parameters of a path', () => {
  it.each([
    ['data.plan', '/fields/data.plan/values'],
    ['order/paid 50%', '/fields/order%2Fpaid%2050%25/values'],
    ['a?b#c', '/fields/a%3Fb%23c/values'],
    ['...', '/fields/.../values'],
    [7, '/fields/7/values'],
  ])('%s is one segment', (name, expected) => {
    expect(fillPath('/fields/{name}/values', { name })).toBe(expected);
  });

  it('leaves a path without any alone', () => {
    expect(fillPath('/contacts', undefined)).toBe('/contacts');
  });

  it.each([
    ['', 'must not be empty'],
    ['.', 'must not be "."'],
    ['..', 'must not be ".."'],
    ['\ud800', 'contains an unpaired surrogate'],
    [undefined, 'must be a string; got undefined'],
    [null, 'must be a string; got null'],
    [{}, 'must be a string; got an object'],
    [{ id: 'con_1' }, 'must be a string; got an object: pass its `id`'],
  ])('%j is refused', (name, message) => {
    for (const params of [{ name }, ...(name === undefined ? [undefined] : [])]) {
      const error = thrownBy(() => fillPath('/fields/{name}', params));
      expect(error).toBeInstanceOf(InvalidRequestError);
      expect(error).toHaveProperty('fieldErrors', [{ field: 'name', message }]);
    }
  });
});

describe('a query', () => {
  it.each([
    [undefined, ''],
    [{}, ''],
    [{ a: undefined, b: null }, ''],
    [{ search: 'a b&c' }, '?search=a+b%26c'],
    [{ limit: 10, deep: true }, '?limit=10&deep=true'],
    [{ tag: ['a', undefined, 'b'] }, '?tag=a&tag=b'],
    [{ since: new Date(0) }, '?since=1970-01-01T00%3A00%3A00.000Z'],
  ])('%j becomes %s', (query, expected) => {
    expect(queryString(query)).toBe(expected);
  });

  it.each([
    [new Date(Number.NaN), 'is not a date'],
    [{ signal: 1 }, 'must be a string, a number, a boolean or a date'],
  ])('refuses %s', (value, message) => {
    const error = thrownBy(() => queryString({ value }));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toHaveProperty('fieldErrors', [{ field: 'value', message }]);
  });
});
