import { runInNewContext } from 'node:vm';
import { InvalidRequestError } from 'postreel';
import { describe, expect, it } from 'vitest';
import { jsonText, wireValue } from '../../../src/core/body.js';
import { answering, messagingOver } from '../../support/clients.js';
import fc, { runs } from '../../support/property.js';

/** A value of a caller, and what it means on the wire; no meaning where it must be refused. */
interface Meant {
  readonly value: unknown;
  readonly wire?: unknown;
  readonly isRefused?: boolean;
}

class Entity {
  readonly #hidden = 'private';
  constructor(fields: object) {
    Object.assign(this, fields);
  }
  reveal(): string {
    return this.#hidden;
  }
}

class Sealed {
  readonly #secret = 1;
  get secret(): number {
    return this.#secret;
  }
}

/** Fields that are worked out when they are read. */
function withGetter(): object {
  return {
    get a() {
      return 1;
    },
    get b() {
      return [2];
    },
  };
}

function looped(): object {
  const value: { self?: unknown } = {};
  value.self = { value };
  return value;
}

function loopedList(): unknown[] {
  const list: unknown[] = [];
  list.push([list]);
  return list;
}

const as = (value: unknown, wire: unknown = value): Meant => ({ value, wire });
const no = (value: unknown): Meant => ({ value, isRefused: true });
const foreign = (code: string): unknown => runInNewContext(code);

const sendable = fc.oneof(
  fc
    .oneof(fc.string({ unit: 'binary' }), fc.boolean(), fc.constant(null))
    .map((value) => as(value)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => as(value, value + 0)),
  fc.date({ noInvalidDate: true }).map((value) => as(value, value.toISOString())),
  fc.string().map((text) => as({ toJSON: () => text }, text)),
  fc.constantFrom(
    as(foreign('new Date(0)'), '1970-01-01T00:00:00.000Z'),
    as(foreign('({ a: [1] })'), { a: [1] }),
    as(Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }),
    as('\ud800 lone'),
    as({ a: '\udc00', '\ud800': 1 }),
    as(withGetter(), { a: 1, b: [2] }),
    as(foreign('[1, [new Date(0)]]'), [1, ['1970-01-01T00:00:00.000Z']]),
    as(
      { toJSON: () => ({ at: new Date(0), toJSON: 'a field' }) },
      {
        at: '1970-01-01T00:00:00.000Z',
        toJSON: 'a field',
      },
    ),
    as({}),
    as([]),
  ),
);
const unsendable = fc.constantFrom(
  ...[Number.NaN, Number.POSITIVE_INFINITY, 1n, Symbol('s'), () => 1, new Date(Number.NaN)].map(no),
  ...[
    new Map([['a', 1]]),
    new Set([1]),
    new WeakMap(),
    Promise.resolve(1),
    /a/,
    new Error('e'),
  ].map(no),
  ...[Object(1), Object('text'), Object(true), new Uint8Array(2), new ArrayBuffer(2)].map(no),
  ...[Buffer.from('hi'), new Blob(['a']), new FormData(), new URLSearchParams('a=1')].map(no),
  ...[looped(), loopedList(), new File(['a'], 'a.txt'), Object(1n)].map(no),
  ...[foreign('new ArrayBuffer(2)'), foreign('Object(1)'), foreign('Promise.resolve()')].map(no),
  ...[new Sealed(), [undefined], new Array(2), { then: () => 1 }].map(no),
  ...[foreign('new Date(NaN)'), foreign('new Map([[1, 2]])')].map(no),
);

const listOf = (items: readonly Meant[]): Meant => ({
  value: items.map(({ value }) => value),
  wire: items.map(({ wire }) => wire),
  isRefused: items.some(({ isRefused }) => isRefused === true),
});
const recordOf = (
  fields: Record<string, Meant>,
  make = (record: object): object => record,
): Meant => {
  const entries = Object.entries(fields);
  return {
    value: make(Object.fromEntries(entries.map(([name, { value }]) => [name, value]))),
    wire: Object.fromEntries(entries.map(([name, { wire }]) => [name, wire])),
    isRefused: entries.some(([, { isRefused }]) => isRefused === true),
  };
};

const { meant } = fc.letrec<{ meant: Meant }>((tie) => {
  const name = fc
    .string({ minLength: 1, maxLength: 5 })
    .filter((one) => !/^(then|toJSON)$/.test(one));
  const fields = fc.dictionary(name, tie('meant'), { maxKeys: 3, minKeys: 1 });
  return {
    meant: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { arbitrary: sendable, weight: 8 },
      { arbitrary: unsendable, weight: 1 },
      { arbitrary: fc.array(tie('meant'), { maxLength: 3 }).map(listOf), weight: 3 },
      { arbitrary: fields.map((one) => recordOf(one)), weight: 4 },
      { arbitrary: fields.map((one) => recordOf(one, (all) => new Entity(all))), weight: 2 },
    ),
  };
});

describe('the input law', () => {
  it('a body reaches the wire as the caller meant it, or is refused with its path', () => {
    fc.assert(
      fc.property(meant, ({ value, wire, isRefused }) => {
        if (isRefused) {
          expect(() => wireValue(value)).toThrow(InvalidRequestError);
        } else {
          expect(JSON.parse(jsonText(wireValue(value)))).toEqual(JSON.parse(JSON.stringify(wire)));
        }
      }),
      { numRuns: runs(600) },
    );
  });

  it('what the caller changes later does not matter', () => {
    const list = [1];
    const body = { list, at: new Date(0) };
    const wire = wireValue(body);
    list.push(2);
    body.at.setTime(9);
    expect(wire).toEqual({ list: [1], at: '1970-01-01T00:00:00.000Z' });
  });

  it.each<[string, unknown, string, RegExp]>([
    ['a forgotten Promise', { data: { plan: Promise.resolve(1) } }, 'data.plan', /a Promise/],
    ['a Map', { data: new Map([['a', 1]]) }, 'data', /a Map/],
    ['bytes', { data: { file: new Uint8Array(1) } }, 'data.file', /base64/],
    ['a hole', { list: [1, undefined] }, 'list[1]', /undefined/],
    ['a cycle', { data: looped() }, 'data.self.value', /refers to itself/],
    ['a file', { data: { file: new File(['a'], 'a.txt') } }, 'data.file', /cannot be sent/],
    ['a big integer', { data: { count: 1n } }, 'data.count', /bigint/],
    ['an instance without fields', { data: new Sealed() }, 'data', /cannot be sent/],
  ])('names the place of %s', (_, value, field, message) => {
    expect.assertions(2);
    try {
      wireValue(value);
    } catch (error) {
      const [first] = (error as InvalidRequestError).fieldErrors;
      expect(first?.field).toBe(field);
      expect(first?.message).toMatch(message);
    }
  });

  it('keeps a field called __proto__ a field', () => {
    const wire = wireValue(JSON.parse('{"__proto__":{"a":1},"b":2}'));
    expect(JSON.stringify(wire)).toBe('{"__proto__":{"a":1},"b":2}');
  });
});

describe('a body of a method', () => {
  it.each<[string, unknown]>([
    ['a Date', new Date()],
    ['a Map', new Map()],
    ['a list', [{ email: 'ann@example.com' }]],
    ['a text', 'ann@example.com'],
    ['a Promise', Promise.resolve({})],
    ['a number object', Object(1)],
  ])('that is %s is refused, also without checks', async (_, body) => {
    const { fetch, requests } = answering(() => ({}));
    const client = messagingOver(fetch, { validation: { requests: 'off' } });
    const { error } = await client.contacts.create(body as { email: string }).safe();
    expect(error?.message).toMatch(
      /pass its fields as one object; got |cannot be sent as JSON; got /,
    );
    expect(error?.outcome).toBe('not-sent');
    expect(requests).toEqual([]);
  });

  it('may be any JSON where there is no method', async () => {
    const { fetch, requests } = answering(() => ({}));
    await messagingOver(fetch).request('POST', '/bulk', { body: [1, 'two'] });
    await expect(requests[0]?.json()).resolves.toEqual([1, 'two']);
  });
});
