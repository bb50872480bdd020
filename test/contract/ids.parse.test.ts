import fc from '../support/property.js';
import { describe, expect, it } from 'vitest';
import { parseExactly } from '../../src/core/values.js';

describe('parseExactly', () => {
  it.each([
    ['{"id":12345678901234567890}', { id: '12345678901234567890' }, 'what is rounded is text'],
    ['[-9007199254740993]', ['-9007199254740993'], 'with its sign'],
    ['{"id": 9007199254740994}', { id: '9007199254740994' }, 'an id beyond 2^53 is text'],
    ['{"n":9007199254740994}', { n: 9007199254740994 }, 'a number that is held stays one'],
    ['{"data":{"n":100000000000000000000}}', { data: { n: 1e20 } }, 'a large amount, too'],
    ['{"id":9007199254740991}', { id: 9007199254740991 }, 'a safe id stays a number'],
    ['[0.1234567890123456789]', [0.1234567890123456789], 'a fraction stays a number'], // eslint-disable-line no-loss-of-precision -- on purpose
    ['[1234567890123456789.5]', [1234567890123456789.5], 'before the point, too'], // eslint-disable-line no-loss-of-precision -- on purpose
    ['[12345678901234567e3]', [12345678901234567e3], 'and with an exponent'],
    ['{"a":"\\": 12345678901234567890"}', { a: '": 12345678901234567890' }, 'a text is not read'],
    ['[9007199254740994]', ['9007199254740994'], 'a bare list of ids'],
    ['{"data":[9007199254740994]}', { data: ['9007199254740994'] }, 'and one under `data`'],
    ['{"12345678901234567890":1}', { '12345678901234567890': 1 }, 'nor is a name'],
  ])('%s', (text, value, why) => {
    expect(parseExactly(text), why).toEqual(value);
  });

  it('reads what JSON.parse() reads where no number is long', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify({ value, pad: '1234567890123456' });
        expect(parseExactly(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    ['in a text', `{"x":"${'1'.repeat(300_000)}e"}`],
    ['as a number', `{"x":${'1'.repeat(300_000)}e1}`],
    ['before a letter', `{"x":${'1'.repeat(300_000)}E}`],
  ])('takes no time for a run of digits %s', (_, text) => {
    const startedAt = performance.now();
    try {
      parseExactly(text);
    } catch {
      // no JSON
    }
    expect(performance.now() - startedAt).toBeLessThan(20_000); // two minutes and more, digit by digit
  });

  it('reads a text of many megabytes', () => {
    const text = JSON.stringify({ body: '"\\\n'.repeat(2_000_000), id: 1 });
    const long = text.replace(/1\}$/, '12345678901234567890}');
    expect(parseExactly(long)).toMatchObject({ id: '12345678901234567890' });
  });
});
