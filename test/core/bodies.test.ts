import { runInNewContext } from 'node:vm';
import { InvalidRequestError } from 'postreel';
import { describe, expect, it } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';
import fc, { runs } from '../support/property.js';

/** A value of a caller, and what it means on the wire; no meaning where it must be refused. */
interface Meant {
  readonly value: unknown;
  readonly wire?: unknown;
  readonly isRefused?: boolean;
}

class Entity {
  readonly #isLoaded = true;
  constructor(fields: object) {
    Object.assign(this, fields);
  }
  isLoaded(): boolean {
    return this.#isLoaded;
  }
}

class Sealed {
  readonly #secret = 1;
  get secret(): number {
    return this.#secret;
  }
}

function looped(): object {
  const value: { self?: unknown } = {};
  value.self = { value };
  return value;
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
    as({ toJSON: () => ({ at: new Date(0) }) }, { at: '1970-01-01T00:00:00.000Z' }),
    as({}),
    as([]),
  ),
);
const unsendable = fc.constantFrom(
  ...[Number.NaN, Number.POSITIVE_INFINITY, 1n, Symbol('s'), () => 1, new Date(Number.NaN)].map(no),
  ...[new Map([['a', 1]]), new Set([1]), new WeakMap(), Promise.resolve(1), /a/].map(no),
  ...[new Error('e'), Object(1), Object('text'), new Uint8Array(2), new ArrayBuffer(2)].map(no),
  ...[Buffer.from('hi'), new Blob(['a']), new URLSearchParams('a=1'), looped()].map(no),
  ...[new Sealed(), [undefined], new Array(2), foreign('new Date(NaN)')].map(no),
  ...[foreign('new Map([[1, 2]])'), foreign('Promise.resolve()')].map(no),
);

const listOf = (items: readonly Meant[]): Meant => ({
  value: items.map(({ value }) => value),
  wire: items.map(({ wire }) => wire),
  isRefused: items.some(({ isRefused }) => isRefused === true),
});
const recordOf = (fields: Record<string, Meant>, make = (all: object): object => all): Meant => {
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

/** Sends a body. Returns the JSON that was sent, or the error. */
async function sent(body: unknown) {
  const { fetch, requests } = answering(() => ({}));
  const { error } = await messagingOver(fetch).request('POST', '/x', { body }).safe();
  return { error, text: await requests[0]?.text() };
}

const nested = (depth: number): object => (depth === 0 ? {} : { in: nested(depth - 1) });

describe('a JSON body', () => {
  it('is sent as the caller meant it, or rejected before the network', async () => {
    await fc.assert(
      fc.asyncProperty(meant, async ({ value, wire, isRefused }) => {
        const { error, text } = await sent(value);
        if (isRefused) {
          expect(error).toBeInstanceOf(InvalidRequestError);
          expect([error?.outcome, text]).toEqual(['not-sent', undefined]);
        } else {
          expect(JSON.parse(text ?? '')).toEqual(JSON.parse(JSON.stringify(wire)));
        }
      }),
      { numRuns: runs(400) },
    );
  });

  it.each<[string, unknown, string, string]>([
    ['NaN', { data: { age: Number.NaN } }, 'data.age', 'must be a number; got NaN'],
    ['a function', { a: [{ b: () => 0 }] }, 'a[0].b', 'cannot be sent as JSON; got a function'],
    ['a big integer', { data: { count: 1n } }, 'data.count', 'got a bigint'],
    [
      'a forgotten promise',
      { data: { plan: Promise.resolve(1) } },
      'data.plan',
      '`await` it first',
    ],
    ['a Map', { data: new Map([['a', 1]]) }, 'data', 'got a Map'],
    ['bytes', { data: { file: new Uint8Array(1) } }, 'data.file', 'encode them as base64 text'],
    ['a hole', { list: [1, undefined] }, 'list[1]', 'must not be undefined in a list'],
    ['a date that is none', { at: new Date(Number.NaN) }, 'at', 'is not a date'],
    ['a circle', { data: looped() }, 'data.self.value', 'refers to itself'],
    ['an instance without fields', { data: new Sealed() }, 'data', 'cannot be sent as JSON'],
    ['depth beyond reason', nested(102), `in${'.in'.repeat(100)}`, 'is nested too deeply'],
  ])('is rejected with the path of %s', async (_, body, field, words) => {
    const { error } = await sent(body);
    expect(error?.fieldErrors).toEqual([
      { field, message: expect.stringContaining(words) as string },
    ]);
  });

  it('encodes everything else as JSON.stringify() does', async () => {
    const shared = { a: 1 };
    const body = { n: null, u: undefined, at: new Date(0), twice: [shared, shared], no: false };
    expect((await sent(body)).text).toBe(
      '{"n":null,"at":"1970-01-01T00:00:00.000Z","twice":[{"a":1},{"a":1}],"no":false}',
    );
    expect((await sent(nested(100))).text).toBe(JSON.stringify(nested(100)));
    const text = '{"__proto__":{"a":1},"b":2}';
    expect((await sent(JSON.parse(text))).text).toBe(text);
  });

  it('is copied when the call is made: later changes have no effect', async () => {
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    const body = { email: 'ann@example.com', data: { tags: [1] } };
    const call = messagingOver(fetch).contacts.create(body);
    body.data.tags.push(2);
    body.email = 'eve@example.com';
    await call;
    expect(await requests[0]?.json()).toEqual({ email: 'ann@example.com', data: { tags: [1] } });
  });

  it('may be a proxy, such as that of a reactive framework', async () => {
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    await messagingOver(fetch).contacts.create(new Proxy({ email: 'ann@example.com' }, {}));
    expect(await requests[0]?.json()).toEqual({ email: 'ann@example.com' });
  });

  it.each<[string, unknown]>([
    ['a Date', new Date()],
    ['a Map', new Map()],
    ['a list', [{ email: 'ann@example.com' }]],
    ['a text', 'ann@example.com'],
    ['a promise', Promise.resolve({})],
  ])('that is %s is rejected, also without checks', async (_, body) => {
    const { fetch, requests } = answering(() => ({}));
    const client = messagingOver(fetch, { validation: { requests: 'off' } });
    const { error } = await client.contacts.create(body as { email: string }).safe();
    expect(error?.message).toMatch(/pass its fields as one object; got |cannot be sent as JSON; /);
    expect([error?.outcome, requests]).toEqual(['not-sent', []]);
  });

  it('of an email takes up to 40 MB, counted in bytes', async () => {
    const { fetch, requests } = answering(() => ({ emails: [] }));
    const mail = { from: 'a@shop.test', to: 'ann@example.com', subject: 'Hi' };
    const send = (body: string) =>
      messagingOver(fetch)
        .send({ ...mail, body })
        .safe();
    const megabyte = 1024 * 1024;
    expect((await send('a'.repeat(39 * megabyte))).error).toBeUndefined();
    const { error } = await send('é'.repeat(21 * megabyte));
    expect(error?.message).toMatch(/the whole message takes at most 40 MB; got 42\.\d+ MB\.$/);
    expect(requests).toHaveLength(1);
  });
});

describe('a file', () => {
  const bytes = new TextEncoder().encode('email,b\n');

  /** Uploads a file. Returns the form that was sent, or the error. */
  async function uploaded(file: unknown) {
    const { fetch, requests } = answering(() => ({ jobId: 'job_1' }));
    const { error } = await messagingOver(fetch)
      .contacts.import(file as Blob)
      .safe();
    return { error, form: await requests[0]?.formData() };
  }

  it.each<[string, unknown, string, string]>([
    ['bytes', bytes, 'contacts.csv', 'text/csv'],
    ['a buffer', bytes.buffer, 'contacts.csv', 'text/csv'],
    ['a blob', new Blob([bytes], { type: 'text/plain' }), 'contacts.csv', 'text/plain'],
    ['a blob without a type', new Blob([bytes]), 'contacts.csv', 'text/csv'],
    ['a file', new File([bytes], 'own.csv', { type: 'text/x' }), 'own.csv', 'text/x'],
    ['a file without a type', new File([bytes], 'own.csv'), 'own.csv', 'text/csv'],
    ['named bytes', { data: bytes, filename: 'n.csv', contentType: 'text/n' }, 'n.csv', 'text/n'],
    ['a text in an object', { data: 'email,b\n' }, 'contacts.csv', 'text/csv'],
    [
      'a file in an object',
      { data: new File([bytes], 'in.csv', { type: 'text/i' }) },
      'in.csv',
      'text/i',
    ],
  ])('%s keeps its name and type, or gets the default ones', async (_, file, name, type) => {
    const part = (await uploaded(file)).form?.get('file') as File;
    expect([part.name, part.type, await part.text()]).toEqual([name, type, 'email,b\n']);
  });

  it('that is a view of a buffer is sent without the rest of the buffer', async () => {
    const part = (await uploaded(new Uint8Array([1, ...bytes]).subarray(1))).form?.get(
      'file',
    ) as File;
    expect(await part.text()).toBe('email,b\n');
  });

  it('can have another field name', async () => {
    const { form } = await uploaded({ data: bytes, fieldName: 'contacts' });
    expect([...(form ?? new FormData()).keys()]).toEqual(['contacts']);
  });

  it('with quotes and line breaks in its name cannot add a header', async () => {
    const filename = 'a"\r\nX-Evil: 1.csv';
    const { form } = await uploaded({ data: bytes, filename });
    expect([...(form ?? new FormData()).keys()]).toEqual(['file']);
    expect(decodeURIComponent((form?.get('file') as File).name)).toBe(filename);
  });

  it('that is too large is rejected before it is sent', async () => {
    const limit = new Uint8Array(5 * 1024 * 1024).fill(10); // empty lines
    limit.set(bytes);
    expect((await uploaded(limit)).error).toBeUndefined();
    const { error, form } = await uploaded(new Blob([limit, 'a']));
    expect(error?.message).toMatch(/`file` must be at most 5 MB; got 5\.01 MB\.$/);
    expect(form).toBeUndefined();
  });

  it.each([
    ['people.csv', 'got a text: for a path use `csvFile()`'],
    [7, 'got a number'],
    [undefined, 'got undefined'],
    [null, 'got null'],
  ])('cannot be %j', async (file, reason) => {
    const { error, form } = await uploaded(file);
    expect(error?.message).toContain(
      `\`file\` must be a File, a Blob, bytes or { data, filename, contentType }; ${reason}`,
    );
    expect(form).toBeUndefined();
  });
});
