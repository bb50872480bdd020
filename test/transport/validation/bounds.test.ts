import { isPostreelError, type Logger, type MismatchEvent } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { clientOptions } from '../../../src/core/options.js';
import { of, wholeList, route } from '../../../src/core/route.js';
import { Connection } from '../../../src/core/client.js';
import { answerProblems } from '../../../src/core/validate.js';
import { answering, messagingOver } from '../../support/clients.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A schema that counts what it is shown and finds every value wrong. */
function countingSchema() {
  const seen: unknown[] = [];
  const safeParse = (value: unknown) => {
    seen.push(value);
    const issues = Array.from({ length: 300 }, () => ({ code: 'custom', path: [], message: 'no' }));
    return { success: false, error: { issues } };
  };
  return { seen, schemas: { returns: { parse: (value: unknown) => value, safeParse } } };
}

/** A value that counts how many of its fields are read. */
function counted(size: number) {
  const state = { reads: 0 };
  const value: Record<string, unknown> = {};
  for (let index = 0; index < size; index++) {
    Object.defineProperty(value, `f${index}`, {
      enumerable: true,
      get: () => state.reads++,
    });
  }
  return { value, state };
}

const list = route('GET /a', { returns: wholeList<object>() });
const one = route('GET /b', { returns: of<object>() });
const changed = route('PUT /b', { body: of<object>(), returns: of<object>() });

describe('the check of an answer', () => {
  it('looks at the first, the last and two items between', () => {
    const { seen, schemas } = countingSchema();
    const items = Array.from({ length: 1_000 }, (_, id) => ({ id }));
    answerProblems(list, schemas, { items }, false);
    expect(seen).toEqual([{ id: 0 }, { id: 333 }, { id: 666 }, { id: 999 }]);
  });

  it.each([0, 1, 2, 3, 4])('looks at all of %i items', (length) => {
    const { seen, schemas } = countingSchema();
    const items = Array.from({ length }, (_, id) => ({ id }));
    answerProblems(list, schemas, { items }, false);
    expect(seen).toEqual(items);
  });

  it('looks at every item where a mismatch is an error', () => {
    const { seen, schemas } = countingSchema();
    answerProblems(list, schemas, { items: Array.from({ length: 100 }, () => ({})) }, true);
    expect(seen).toHaveLength(100);
  });

  it('reports at most a hundred issues', () => {
    const { schemas } = countingSchema();
    expect(answerProblems(list, schemas, { items: [{}, {}, {}] }, true)).toHaveLength(100);
    expect(answerProblems(one, schemas, {}, false)).toHaveLength(100);
  });

  it('visits at most ten thousand values, whatever their form', () => {
    const { seen, schemas } = countingSchema();
    const { value, state } = counted(200_000);
    answerProblems(one, schemas, value, true);
    answerProblems(
      one,
      schemas,
      Array.from({ length: 500_000 }, () => []),
      true,
    );
    expect(seen).toEqual([]);
    expect(state.reads).toBeLessThanOrEqual(10_000);
  });

  it('of a hostile answer makes one small event', async () => {
    const text = `{"data":[${'[],'.repeat(500_000)}[]],"hasMore":false}`;
    const { fetch } = answering(() => new Response(text));
    const client = messagingOver(fetch);
    const events: MismatchEvent[] = [];
    client.on('mismatch', (event) => events.push(event));
    const page = await client.contacts.list();
    expect(page.items).toHaveLength(500_001);
    expect(events).toHaveLength(1);
    expect(events[0]?.issues.length).toBeLessThanOrEqual(100);
  });
});

/** Answers of two megabytes that no service would send. */
const hostile: [string, string][] = [
  ['a list of lists', `{"data":[${'[],'.repeat(700_000)}[]],"hasMore":false}`],
  ['a list of wrong items', `{"data":[${'{"a":[]},'.repeat(230_000)}{}],"hasMore":false}`],
  ['one item with many fields', `{"data":[{${fields(150_000)}}],"hasMore":false}`],
  ['many fields beside the list', `{"data":[],${fields(150_000)},"hasMore":false}`],
  ['no list at all', `{${fields(150_000)}}`],
  ['an envelope around it', `{"success":true,"data":{"data":[${'[],'.repeat(700_000)}[]]}}`],
];

function fields(count: number): string {
  return Array.from({ length: count }, (_, index) => `"field${index}":0`).join(',');
}

/** A parsed value that counts each value in it that somebody reads. */
function watched(value: unknown, state: { visits: number }): unknown {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return new Proxy(value, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name);
      state.visits += Number(Object.hasOwn(target, name) && name !== 'length');
      return watched(found, state);
    },
  });
}

describe.each(hostile)('a hostile answer of two megabytes, %s,', (_, text) => {
  it.each(['event', 'throw'] as const)(
    'costs ten thousand visits and a hundred issues at most: %s',
    async (responses) => {
      expect(text.length).toBeGreaterThan(1.8 * 2 ** 20);
      const state = { visits: 0 };
      const parse = JSON.parse;
      vi.spyOn(JSON, 'parse').mockImplementation((json: string) => watched(parse(json), state));
      const { fetch } = answering(() => new Response(text));
      const client = messagingOver(fetch, { validation: { responses } });
      const issues: number[] = [];
      client.on('mismatch', (event) => issues.push(event.issues.length));
      for (const call of [() => client.contacts.list(), () => client.contacts.get('con_1')]) {
        state.visits = 0;
        const failure: unknown = await Promise.resolve(call()).then(
          () => undefined,
          (error: unknown) => error,
        );
        issues.push(isPostreelError(failure) ? failure.fieldErrors.length : 0);
        expect(failure === undefined || isPostreelError(failure)).toBe(true);
        expect(state.visits).toBeLessThanOrEqual(10_000);
      }
      expect(Math.max(...issues)).toBeLessThanOrEqual(100);
    },
  );
});

describe('loading the checks', () => {
  const service = {
    name: 'test',
    environment: { apiKey: 'TEST_KEY', baseUrl: 'TEST_URL' },
    keyPrefixes: undefined,
    limit: 10,
    windowMs: 1_000,
    alwaysJson: false,
    options: clientOptions,
  };
  const connect = (
    load: () => Promise<never>,
    requests: 'throw' | 'off' = 'throw',
    logger?: Logger,
  ) =>
    new Connection(
      service,
      {
        apiKey: 'key',
        baseUrl: 'https://a.test',
        rateLimit: false,
        validation: { requests },
        logger,
        fetch: () => Promise.resolve(Response.json({ ok: true })),
      },
      load,
    ).transport;
  const quiet = () => undefined;
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const never = () => new Promise<never>(() => undefined);

  it('ends with the deadline', async () => {
    vi.useFakeTimers();
    const call = connect(never).send(changed, { body: {} }, { deadline: 50 });
    const failed = expect(call).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      outcome: 'not-sent',
    });
    await vi.advanceTimersByTimeAsync(50);
    await failed;
  });

  it('ends with the signal', async () => {
    const controller = new AbortController();
    const call = connect(never).send(changed, { body: {} }, { signal: controller.signal });
    setTimeout(() => controller.abort('enough'), 5);
    await expect(call).rejects.toBe('enough');
  });

  it('that never ends does not keep an answer that has come', async () => {
    vi.useFakeTimers();
    const call = connect(never, 'off', logger).send(one, {}, { deadline: 50 });
    await vi.advanceTimersByTimeAsync(50);
    await expect(call).resolves.toEqual({ ok: true });
  });

  it('is left out where nothing is to be checked and nobody listens', async () => {
    const load = vi.fn(never);
    await expect(connect(load).send(one, {})).resolves.toEqual({ ok: true });
    expect(load).not.toHaveBeenCalled();
    await expect(connect(load, 'off').send(changed, { body: {} })).resolves.toEqual({ ok: true });
    expect(load).not.toHaveBeenCalled();
    await connect(load, 'off', logger).send(one, {}, { deadline: 20 }); // to whom a logger tells it
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('that fails is typed, was not sent, and is tried again by the next call', async () => {
    const load = vi.fn(() => Promise.reject(new Error('404: chunk-3.js')));
    const transport = connect(load);
    for (let attempt = 1; attempt <= 2; attempt++) {
      await expect(transport.send(changed, { body: {} })).rejects.toMatchObject({
        name: 'ConfigurationError',
        code: 'SCHEMAS_MISSING',
        outcome: 'not-sent',
      });
      expect(load).toHaveBeenCalledTimes(attempt);
    }
  });
});
