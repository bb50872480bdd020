import { ConfigurationError } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { of, route, type KeyRule } from '../../../src/core/route.js';
import {
  checkKey,
  guardBrowser,
  inTheClear,
  isBrowser,
  isPlainHttp,
  keyUnavailable,
} from '../../../src/core/keys.js';
import { Keyring, type KeyPolicy } from '../../../src/transport/auth/keyring.js';
import { cleanCause, redact } from '../../../src/core/redact.js';
import { Session } from '../../../src/transport/auth/session.js';

afterEach(() => void vi.unstubAllGlobals());

const prefixes = { secret: 'sk_', public: 'pk_' };

function refusalOf(work: () => unknown): ConfigurationError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return error as ConfigurationError;
  }
  throw new Error('it was accepted');
}

describe('the words for a key that cannot be', () => {
  it.each<[unknown, string]>([
    [
      undefined,
      'The API key must be a non-empty string. Set `apiKey`, or the environment variable it comes from.',
    ],
    [
      '',
      'The API key must be a non-empty string. Set `apiKey`, or the environment variable it comes from.',
    ],
    [
      7,
      'The API key must be a non-empty string. Set `apiKey`, or the environment variable it comes from.',
    ],
    [' sk_a', 'The API key contains whitespace. Copy it again.'],
    ['sk_a\n', 'The API key contains whitespace. Copy it again.'],
    ['sk_a b', 'The API key contains whitespace. Copy it again.'],
    ['ключ', 'The API key contains characters that a key cannot have.'],
    ['sk_ключ', 'The API key contains characters that a key cannot have.'],
    ['ключ_sk', 'The API key contains characters that a key cannot have.'],
    ['key', 'The API key must start with "sk_" or "pk_". Is it the key of another service?'],
    ['a_sk_', 'The API key must start with "sk_" or "pk_". Is it the key of another service?'],
  ])('%j', (key, message) => {
    const error = refusalOf(() => checkKey(key, prefixes));
    expect(error).toMatchObject({ message, code: 'INVALID_API_KEY', outcome: 'not-sent' });
  });

  it('are none for a key that can', () => {
    expect(checkKey('sk_a!~', prefixes)).toBe('sk_a!~');
    expect(checkKey('anything', undefined)).toBe('anything');
  });

  it('say what to do instead', () => {
    expect(inTheClear()).toMatchObject({
      code: 'PLAIN_HTTP',
      message:
        'A secret key must not travel over plain http, where others can read it. Use an https address, or set `dangerouslyAllowPlainHttp`.',
    });
    const cause = new Error('vault');
    expect(keyUnavailable(cause)).toMatchObject({
      code: 'API_KEY_UNAVAILABLE',
      message: 'The `apiKey` function failed, so there is no key to call with.',
      outcome: 'not-sent',
      cause,
    });
  });
});

describe('who may call what', () => {
  const call = (key: KeyRule) => route('GET /it', { key, returns: of<object>() });
  const policy: KeyPolicy = {
    prefixes,
    allowedInBrowser: true,
    usesPlainHttp: false,
    origin: 'a test',
  };
  const sessionThat = (isOpen: boolean) => {
    const session = new Session();
    if (isOpen) {
      session.absorb(new Headers([['set-cookie', 'id=1']]));
    }
    return session;
  };

  it.each<[KeyRule, string | null, boolean, string | undefined]>([
    ['none', null, false, undefined],
    ['none', 'pk_a', false, undefined],
    ['secret', 'sk_a', false, undefined],
    ['public-or-secret', 'pk_a', false, undefined],
    ['secret-or-session', 'sk_a', false, undefined],
    ['secret-or-session', null, true, undefined],
    ['secret', null, true, 'Create the client with a secret key.'],
    ['public-or-secret', null, true, 'Create the client with a secret key.'],
    ['secret-or-session', null, false, 'Sign in with `auth.login()` or create the client with'],
    [
      'secret',
      'pk_a',
      false,
      'A public key (pk_) may only track events. Use a secret key (sk_) on',
    ],
    ['secret-or-session', 'pk_a', true, 'A public key (pk_) may only track events.'],
  ])('%s with %j (signed in: %s)', (rule, key, hasSession, message) => {
    const attempt = () => new Keyring(key, policy).keyFor(call(rule), sessionThat(hasSession));
    if (message === undefined) {
      expect(attempt).not.toThrow();
      return;
    }
    const error = refusalOf(attempt);
    expect(error.message).toContain(message);
    expect(error.message).toContain('GET /it');
    expect(error.code).toBe(key === null ? 'KEY_NEEDED' : 'SECRET_KEY_NEEDED');
  });

  it('is not told by the prefix where keys have none', () => {
    const ring = new Keyring('pk_a', { ...policy, prefixes: undefined });
    expect(ring.keyFor(call('secret'), new Session())).toBe('pk_a');
  });
});

describe('an address in the clear', () => {
  it.each([
    ['https://api.test', false],
    ['http://api.test', true],
    ['http://localhost:80', false],
    ['http://my.localhost', false],
    ['http://localhost.test', true],
    ['http://notlocalhost', true],
    ['http://127.0.0.1:3000', false],
    ['http://127.250.10.255', false],
    ['http://128.0.0.1', true],
    ['http://127.0.0.1.test', true],
    ['http://[::1]', false],
    ['http://[::2]', true],
    ['http://0.0.0.0', true],
  ])('%s: %s', (address, expected) => {
    expect(isPlainHttp(address)).toBe(expected);
  });
});

describe('a browser', () => {
  const worker = { WorkerGlobalScope: Date, importScripts: () => undefined };
  const stub = (globals: object) => {
    for (const [name, value] of Object.entries(globals)) {
      vi.stubGlobal(name, value);
    }
  };

  it.each<[string, object, boolean]>([
    ['Node', {}, false],
    ['a page', { window: { document: {} } }, true],
    ['a test with half a window', { window: {} }, false],
    ['a worker', { ...worker, process: undefined }, true],
    ['a worker with a process of a bundler', { ...worker, process: {} }, true],
    ['a worker with versions of a bundler', { ...worker, process: { versions: {} } }, true],
    ['a worker of Node', worker, false],
    ['an edge worker', { ...worker, process: undefined, WebSocketPair: Date }, false],
    ['a worker of Deno', { ...worker, process: undefined, Deno: {} }, false],
    ['an edge runtime', { process: undefined, WorkerGlobalScope: Date }, false],
    ['something else', { process: undefined, importScripts: () => undefined }, false],
  ])('%s: %s', (_, globals, expected) => {
    stub(globals);
    expect(isBrowser()).toBe(expected);
    if (!expected) {
      expect(() => guardBrowser(prefixes)).not.toThrow();
      return;
    }
    expect(refusalOf(() => guardBrowser(prefixes))).toMatchObject({
      code: 'SECRET_KEY_IN_BROWSER',
      message:
        'A secret key must not be used in a browser, where every visitor can read it. Call the service from a server, or track events with a public key (pk_).',
    });
  });
});

describe('a keyring', () => {
  const policy: KeyPolicy = {
    prefixes,
    allowedInBrowser: false,
    usesPlainHttp: false,
    origin: 'a test',
  };

  it('holds a key that is given', async () => {
    const ring = new Keyring('sk_a', policy);
    expect(ring.current).toBe('sk_a');
    await expect(ring.key()).resolves.toBe('sk_a');
    expect(ring.canRenew('sk_a')).toBe(false);
    expect(ring.canRenew('sk_old')).toBe(true);
    await expect(ring.renew('sk_old')).resolves.toBe('sk_a');
    await expect(ring.renew('sk_a')).resolves.toBe('sk_a');
    ring.swap('sk_b');
    await expect(ring.key()).resolves.toBe('sk_b');
    await expect(ring.renew('sk_b')).resolves.toBe('sk_b');
    expect(() => ring.swap('b')).toThrow('must start with');
  });

  it('may hold none', async () => {
    const ring = new Keyring(null, policy);
    expect(ring.current).toBeNull();
    await expect(ring.key()).resolves.toBeNull();
    await expect(ring.renew(null)).resolves.toBeNull();
    expect(ring.canRenew(null)).toBe(false);
  });

  it('asks a function once, and anew for another key', async () => {
    const keys = ['sk_a', 'sk_b', 'sk_c'];
    const source = vi.fn(() => Promise.resolve(keys.shift()!));
    const ring = new Keyring(source, policy);
    expect(ring.current).toBeUndefined();
    await Promise.all([ring.key(), ring.key()]);
    await ring.key();
    expect(source).toHaveBeenCalledTimes(1);
    expect(ring.canRenew('sk_a')).toBe(true);
    await expect(Promise.all([ring.renew('sk_a'), ring.renew('sk_a')])).resolves.toEqual([
      'sk_b',
      'sk_b',
    ]);
    await expect(ring.renew('sk_a')).resolves.toBe('sk_b'); // somebody has asked already
    expect(source).toHaveBeenCalledTimes(2);
    ring.swap('sk_x');
    await expect(ring.key()).resolves.toBe('sk_x');
    await expect(ring.renew('sk_x')).resolves.toBe('sk_c'); // the function stays the source
  });

  it('asks again after a failure, and refuses what is no key', async () => {
    const answers: (() => string)[] = [
      () => {
        throw new Error('vault');
      },
      () => 'no key',
      () => 'sk_a',
    ];
    const ring = new Keyring(() => answers.shift()!(), policy);
    await expect(ring.key()).rejects.toMatchObject({ code: 'API_KEY_UNAVAILABLE' });
    await expect(ring.key()).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
    await expect(ring.key()).resolves.toBe('sk_a');
  });

  it('lets public keys go everywhere, and secret ones where they are safe', () => {
    const open = { ...policy, usesPlainHttp: true };
    expect(new Keyring('pk_a', open).current).toBe('pk_a');
    expect(refusalOf(() => new Keyring('sk_a', open)).code).toBe('PLAIN_HTTP');
    const noPrefix = { ...open, prefixes: undefined };
    expect(refusalOf(() => new Keyring('pk_a', noPrefix)).code).toBe('PLAIN_HTTP');
    vi.stubGlobal('window', { document: {} });
    expect(refusalOf(() => new Keyring('sk_a', policy)).code).toBe('SECRET_KEY_IN_BROWSER');
    expect(new Keyring('sk_a', { ...policy, allowedInBrowser: true }).current).toBe('sk_a');
  });
});

describe('a text of somebody else', () => {
  it.each([
    ['key media_test_key is bad', 'media_test_key', 'key [key] is bad'],
    ['twice abcd abcd', 'abcd', 'twice [key] [key]'],
    ['a short abc is a word', 'abc', 'a short abc is a word'],
    ['some sk_other_1 and pk_x-9z', null, 'some sk_[key] and pk_[key]'],
    ['sk_ab is no key, task_list neither', null, 'sk_ab is no key, task_list neither'],
    ['Authorization: Bearer x.y.z, done', null, 'Authorization: Bearer [key], done'],
    ['Use `Authorization: Bearer <key>`.', null, 'Use `Authorization: Bearer <key>`.'],
    ['{"auth":"bearer   abc"}', null, '{"auth":"Bearer [key]"}'],
  ])('%j, key %j: %j', (text, key, expected) => {
    expect(redact(text, [key])).toBe(expected);
  });
});

describe('what a fault holds', () => {
  const key = 'sk_secret_1';
  const chain = (depth: number, message = key): Error =>
    new Error(message, depth > 0 ? { cause: chain(depth - 1, message) } : {});
  const lengthOf = (fault: unknown): number =>
    fault instanceof Error ? 1 + lengthOf(fault.cause) : 0;

  it('is left alone where there is no key, and where it does not hold it', () => {
    const fault = chain(1, 'lost');
    expect(cleanCause(fault, null)).toBe(fault);
    const circle: Record<string, unknown> = { a: null, b: 1 };
    circle['self'] = circle;
    expect(cleanCause(circle, key)).toBe(circle);
    const getter = Object.defineProperty(new Error('x'), 'g', { get: () => key });
    expect(cleanCause(getter, key)).not.toHaveProperty('g');
  });

  it('is copied with its causes, down to a bound', () => {
    expect(lengthOf(cleanCause(chain(3), key))).toBe(4);
    expect(lengthOf(cleanCause(chain(20), key))).toBe(8);
    expect('cause' in (cleanCause(chain(0), key) as Error)).toBe(false);
  });

  it('becomes its name when it is neither an error nor plain data', () => {
    expect(cleanCause(key, key)).toBe('[key]');
    expect(cleanCause({ key }, key)).toEqual({ key: '[key]' });
    expect(cleanCause(new Headers(), key)).toBe('[Headers]');
    expect(cleanCause(new Request('https://a.test'), key)).toBe('[Request]');
  });

  it('is cut when it is too much to look through', () => {
    const many = Array.from({ length: 498 }, () => ({}));
    const fault = (list: object[]) => Object.assign(new Error('big'), { list });
    // The error and its list are two of five hundred.
    expect(cleanCause(fault(many), key)).toBeInstanceOf(Error);
    const tooMany = fault([...many, {}, {}]);
    expect(cleanCause(tooMany, key)).not.toBe(tooMany);
    expect(JSON.stringify(cleanCause(tooMany, key))).toContain('…');
  });
});

describe('a session', () => {
  const after = (...lines: string[]) => {
    const session = new Session();
    session.absorb(
      new Headers([
        ['set-cookie', 'id=1'],
        ...lines.map((line) => ['set-cookie', line] as [string, string]),
      ]),
    );
    return session.header();
  };

  it.each<[string[], string | undefined]>([
    [[], 'id=1'],
    [['id=2; Path=/'], 'id=2'],
    [['other = b=c ; HttpOnly'], 'id=1; other=b=c'],
    [['id='], undefined],
    [['id=2; Max-Age=0'], undefined],
    [['id=2; max-age=-5'], undefined],
    [['id=2; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], 'id=2'],
    [['id=2; Expires=Thu, 01 Jan 2970 00:00:00 GMT; Max-Age=0'], undefined],
    [['id=2; Expires=never'], 'id=2'],
    [['id=2; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], undefined],
    [['id=2; EXPIRES=Thu, 01 Jan 2970 00:00:00 GMT'], 'id=2'],
    [['id=2; Max-Age=60'], 'id=2'],
    [['=nameless', 'nothing', ''], 'id=1'],
    [['id=2; Version=1'], 'id=2'],
  ])('after %j sends %j', (lines, header) => {
    expect(after(...lines)).toBe(header);
  });

  it('is closed when it is cleared', () => {
    const session = new Session();
    expect(session.isOpen).toBe(false);
    session.absorb(new Headers([['set-cookie', 'id=1']]));
    expect(session.isOpen).toBe(true);
    session.clear();
    expect(session.isOpen).toBe(false);
    expect(session.header()).toBeUndefined();
  });
});
