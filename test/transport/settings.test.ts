import { ConfigurationError, MessagingClient, type MessagingOptions } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answering } from '../support/clients.js';

const required = { apiKey: 'sk_key', baseUrl: 'https://messaging.test' };

function refusalOf(options: MessagingOptions): ConfigurationError {
  try {
    new MessagingClient(options);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return error as ConfigurationError;
  }
  throw new Error('it was accepted');
}

afterEach(() => void vi.unstubAllEnvs());

describe('options that cannot work are refused when the client is made', () => {
  it.each<[string, MessagingOptions, string]>([
    ['no time at all', { timeout: 0 }, '`timeout` must be a number of milliseconds above 0.'],
    ['a negative time', { timeout: -1 }, '`timeout` must be'],
    ['no number', { timeout: Number.NaN }, '`timeout` must be'],
    ['a time in words', { timeout: '30s' as never }, '`timeout` must be'],
    ['a negative count', { retries: -1 }, '`retries` must be a whole number from 0 up.'],
    ['half a retry', { retries: 1.5 }, '`retries` must be'],
    ['no room at all', { rateLimit: { headroom: 1 } }, '`rateLimit.headroom` must be at least 0'],
    ['less than no headroom', { rateLimit: { headroom: -0.1 } }, '`rateLimit.headroom` must be'],
    ['a headroom that is no number', { rateLimit: { headroom: NaN } }, '`rateLimit.headroom`'],
    ['a limit of nothing', { rateLimit: { limit: 0 } }, '`rateLimit.limit` must be'],
    ['a window of nothing', { rateLimit: { windowMs: 0 } }, '`rateLimit.windowMs` must be'],
  ])('%s', (_, options, message) => {
    const error = refusalOf({ ...required, ...options });
    expect(error.code).toBe('INVALID_OPTION');
    expect(error.message).toContain(message);
  });

  it('those at the edge are taken', () => {
    const edges: MessagingOptions[] = [
      { timeout: 1, retries: 0, rateLimit: { headroom: 0 } },
      { timeout: Number.POSITIVE_INFINITY, rateLimit: { headroom: 0.99 } },
    ];
    for (const options of edges) {
      expect(() => new MessagingClient({ ...required, ...options })).not.toThrow();
    }
  });
});

describe('the environment', () => {
  it('gives the key and the address that are not given', async () => {
    vi.stubEnv('MESSAGING_API_KEY', 'sk_env');
    vi.stubEnv('MESSAGING_BASE_URL', 'https://env.test');
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    await new MessagingClient({ fetch }).contacts.get('con_1');
    await new MessagingClient({ fetch, ...required }).contacts.get('con_1');
    expect(requests.map(({ url }) => url)).toEqual([
      'https://env.test/contacts/con_1',
      'https://messaging.test/contacts/con_1',
    ]);
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer sk_env',
      'Bearer sk_key',
    ]);
  });

  it('is named by a refusal of its key, which is never repeated', async () => {
    vi.stubEnv('MESSAGING_API_KEY', 'sk_env_1234567890');
    const { baseUrl } = required;
    const fetch = answering(() => new Response('{}', { status: 401 })).fetch;
    const said = (options: MessagingOptions) =>
      new MessagingClient({ fetch, baseUrl, ...options }).contacts.get('con_1').then(
        () => 'taken',
        (error: unknown) => (error as Error).message,
      );
    expect(await said({})).toMatch(/The key \(sk_…\) came from MESSAGING_API_KEY\.$/);
    expect(await said({ apiKey: 'sk_given' })).toMatch(/came from the option `apiKey`\.$/);
    const fetched = await said({ apiKey: () => 'sk_fetched' });
    expect(fetched).toMatch(/came from the function `apiKey`\.$/);
    expect(fetched).not.toContain('sk_fetched');
  });

  it.each(['', undefined])('that holds %j holds nothing', (value) => {
    vi.stubEnv('MESSAGING_API_KEY', value);
    vi.stubEnv('MESSAGING_BASE_URL', value);
    const { apiKey, baseUrl } = required;
    const noKey = refusalOf({ baseUrl });
    expect(noKey.code).toBe('API_KEY_MISSING');
    expect(noKey.message).toContain('pass `apiKey`, or set MESSAGING_API_KEY');
    const noAddress = refusalOf({ apiKey });
    expect(noAddress.code).toBe('BASE_URL_MISSING');
    expect(noAddress.message).toContain('pass `baseUrl`, or set MESSAGING_BASE_URL');
  });

  it('may be missing, as in a browser or a worker', () => {
    vi.stubGlobal('process', undefined);
    try {
      expect(refusalOf({ baseUrl: required.baseUrl }).code).toBe('API_KEY_MISSING');
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
