import {
  isPostreelError,
  MediaClient,
  MessagingClient,
  type MediaOptions,
  type MessagingOptions,
  type RequestOptions,
} from 'postreel';
import { describe, expect, it } from 'vitest';
import { answering, mediaOver, messagingOver } from '../support/clients.js';

const { fetch, requests } = answering(({ url }) => {
  const isList = /\/contacts(\?|$)/.test(url);
  return isList ? { data: [{ id: 'con_1' }] } : { id: 'x', status: 'success', verified: true };
});
const messaging = messagingOver(fetch);
const base = { apiKey: 'sk_test', baseUrl: 'https://service.test', fetch };
const oneOfThem = [null, 'x', [], () => 1, Symbol('x'), NaN];

/** Options as they may be given, without any type. */
type Loose = Record<string, unknown>;

/** The same options, with what a client cannot do without. */
const withBase = (options: Loose) => Object.setPrototypeOf(options, base) as MediaOptions; // not read here

interface Door {
  readonly open: (options: Loose) => unknown;
  /** The options, each with values that it must refuse by its name. */
  readonly wrong: Readonly<Record<string, readonly unknown[]>>;
}

const limits = {
  limit: [0, -1, NaN, '10', null],
  windowMs: [0, NaN, '1m', null],
  headroom: [1, -0.1, NaN, null],
  group: ['', 5, null],
  maxQueueMs: [-1, NaN, '1s', null],
  store: [{}, null, 'redis'],
};
const ofCall = {
  signal: [{}, null, 'x'],
  timeout: [0, -1, NaN, '30s', null],
  deadline: [0, -1, NaN, '30s', null],
  headers: [null, 'x', 5, [1]],
  retries: [-1, 1.5, NaN, '2', null],
  retry: [3, null, true],
  priority: ['high', null, 1],
};
const ofWait = {
  timeout: [0, '10m', null],
  interval: [-1, '1s', null],
  signal: [{}, null],
  onUpdate: [{}, null],
  isDone: [true, null],
};
const client = {
  fetch: [{}, null, 'fetch'],
  timeout: ofCall.timeout,
  retries: ofCall.retries,
  rateLimit: [10, null, true, []],
  validation: [false, null, 'off'],
  headers: ofCall.headers,
  logger: [true, null, {}],
  dangerouslyAllowSecretKeyInBrowser: [null, 'true', 1],
  dangerouslyAllowPlainHttp: [1],
};

/** Everything of the core that takes options. */
const doors: Readonly<Record<string, Door>> = {
  'new MessagingClient()': {
    open: (options) => new MessagingClient(withBase(options)),
    wrong: client,
  },
  'new MediaClient()': {
    open: (options) => new MediaClient(withBase(options)),
    wrong: client,
  },
  'client.with()': {
    open: (options) => messaging.with(options),
    wrong: client,
  },
  rateLimit: {
    open: (rateLimit) => new MessagingClient({ ...base, rateLimit }),
    wrong: limits,
  },
  validation: {
    open: (validation) => new MessagingClient({ ...base, validation }),
    wrong: { requests: ['warn', null, false], responses: ['log', null, true] },
  },
  'a call': {
    open: (options) => messaging.contacts.get('con_1', options),
    wrong: ofCall,
  },
  retry: {
    open: (retry) => messaging.contacts.get('con_1', { retry }),
    wrong: { unknownOutcome: ['yes', 1, null] },
  },
  'a list': {
    open: (options) => messaging.contacts.list({}, options).toArray(),
    wrong: { ...ofCall, prefetch: [-1, 1.5, 101, NaN, '2', null] },
  },
  'toArray()': {
    open: (options) => messaging.contacts.list().toArray(options),
    wrong: { max: [-1, NaN, '1', null] },
  },
  'a wait': {
    open: (options) => messaging.domains.waitUntilVerified('dom_1', options),
    wrong: ofWait,
  },
};

/** How a call ended: `ok`, its error, or `raw` for an error of another kind. */
async function endOf(open: () => unknown): Promise<string> {
  try {
    await open();
    return 'ok';
  } catch (failure) {
    return isPostreelError(failure) ? failure.message : `raw ${String(failure)}`;
  }
}

const fails = () => {
  throw new TypeError('raw');
};

describe.each(Object.entries(doors))('the options of %s', (door, { open, wrong }) => {
  const names = Object.keys(wrong);
  const isGroup = /^(rateLimit|validation|retry)$/.test(door);
  const shown = (name: string) => `\`${isGroup ? `${door}.` : ''}${name}\``;

  it.each(names)('`%s: undefined` is the same as leaving it out', async (name) => {
    expect(await endOf(() => open({ [name]: undefined }))).toBe('ok');
  });

  it.each(names)(
    '`%s` that does not fit is refused by its name, before the network',
    async (name) => {
      const before = requests.length;
      for (const value of wrong[name] ?? []) {
        const end = await endOf(() => open({ [name]: value }));
        expect(end, String(value)).toContain(`${shown(name)} must be `);
      }
      const getter = Object.defineProperty({}, name, { get: fails, enumerable: true });
      expect(await endOf(() => open(getter))).toContain(`${shown(name)} cannot be read`);
      expect(requests).toHaveLength(before);
    },
  );

  it.each(names.filter((name) => name.length >= 5))(
    '`%s` that is misspelt is named',
    async (name) => {
      const misspelt = { [`${name}x`]: 1 };
      expect(await endOf(() => open(misspelt))).toContain(`Did you mean ${shown(name)}?`);
    },
  );
});

describe('options as a whole', () => {
  it.each(oneOfThem)('that are %s are rejected', async (given) => {
    const get = () => messaging.contacts.get('con_1', given as RequestOptions);
    expect(await endOf(get)).toMatch(
      /^The options of a call must be an object, such as \{ timeout/,
    );
    const make = () => new MessagingClient(given as MessagingOptions);
    expect(await endOf(make)).toMatch(
      /^The options of the messaging client must be an object, such/,
    );
  });

  it('of a client must not have unknown names; the error suggests the name of this client', async () => {
    const make = (options: Loose) => endOf(() => new MessagingClient({ ...base, ...options }));
    expect(await make({ color: 'red' })).toBe(
      '`color` is not an option of the messaging client. Leave it out.',
    );
    expect(await make({ maxRetries: 1 })).toContain('Did you mean `retries`?');
    expect(await make({ timeoutMs: 1 })).toContain('Did you mean `timeout`?');
  });

  it('of a call may be an object with more fields, such as an event of a framework', async () => {
    const options = { signal: new AbortController().signal, color: 'red' };
    await expect(messaging.contacts.get('con_1', options)).resolves.toBeDefined();
  });

  it('at the edge of their range are accepted', () => {
    const rateLimit = { headroom: 0.99, limit: 1, windowMs: 1, maxQueueMs: 0 };
    for (const options of [
      { timeout: 1, retries: 0, rateLimit },
      { timeout: Number.POSITIVE_INFINITY, rateLimit: false as const },
    ]) {
      expect(() => messagingOver(fetch, options)).not.toThrow();
      expect(() => mediaOver(fetch, options)).not.toThrow();
    }
  });
});
