import { baseUrl, base, messaging, media, mail, type Misuse } from './subjects.js';

/** Options with which a client cannot be created. */
export const creating: readonly Misuse[] = [
  [
    'no key',
    () => messaging({ baseUrl }),
    'pass `apiKey`, or set MESSAGING_API_KEY (Node reads a file with `node --env-file',
  ],
  ['an empty key', () => messaging({ ...base, apiKey: '' }), 'Set `apiKey`'],
  ['a key with a line break', () => messaging({ ...base, apiKey: 'sk_a\n' }), 'Copy it again'],
  ['a key with Bearer', () => messaging({ ...base, apiKey: 'Bearer sk_a' }), 'the key alone'],
  ['a key in quotes', () => messaging({ ...base, apiKey: '"sk_a"' }), 'Leave out quotes'],
  ['the key of another service', () => messaging({ ...base, apiKey: 'abc' }), 'another service?'],
  ['a number for a key', () => messaging({ ...base, apiKey: 5 }), 'must be a non-empty string'],
  [
    'a key in place of options',
    () => messaging('sk_test'),
    'must be an object, such as { apiKey, baseUrl }',
  ],
  [
    'a key function without a key',
    () => messaging({ ...base, apiKey: () => undefined }).contacts.list(),
    'must be a non-empty string',
  ],
  [
    'a public key that sends',
    () => messaging({ ...base, apiKey: 'pk_a' }).send(mail),
    'Use a secret key (sk_) on a server to call POST /v1/send',
  ],
  [
    'no key at all',
    () => messaging({ ...base, apiKey: null }).send(mail),
    'Create the client with a secret key',
  ],
  ['no media key', () => media({ baseUrl }), 'MEDIA_API_KEY'],
  ['no address', () => messaging({ apiKey: 'sk_a' }), 'pass `baseUrl`, or set MESSAGING_BASE_URL'],
  [
    'nothing set up',
    () => messaging({}),
    'set MESSAGING_BASE_URL and MESSAGING_API_KEY (Node reads a file with `node --env-file=.env`, dotenv does elsewhere). To try it without an account, run `npx postreel fake`',
  ],
  [
    'an address without https',
    () => messaging({ ...base, baseUrl: 'service.test' }),
    'with its scheme, e.g. "https://',
  ],
  [
    'an address with ftp',
    () => messaging({ ...base, baseUrl: 'ftp://x' }),
    'must start with https://',
  ],
  [
    'an address with a password',
    () => messaging({ ...base, baseUrl: 'https://a:b@x' }),
    'must not hold credentials',
  ],
  [
    'an address over plain http',
    () => messaging({ ...base, baseUrl: 'http://service.test' }).send(mail),
    'Use an https address',
  ],
  ['baseURL', () => messaging({ apiKey: 'sk_a', baseURL: baseUrl }), 'Did you mean `baseUrl`?'],
  ['apikey', () => messaging({ apikey: 'sk_a', baseUrl }), 'Did you mean `apiKey`?'],
  ['maxRetries', () => messaging({ ...base, maxRetries: 5 }), 'Did you mean `retries`?'],
  ['timeOut', () => messaging({ ...base, timeOut: 5 }), 'Did you mean `timeout`?'],
  [
    'an option of the other client',
    () => messaging({ ...base, appUrl: 'https://app.test' }),
    '`appUrl` is not an option of the messaging client. Leave it out',
  ],
  [
    'a timeout with a unit',
    () => messaging({ ...base, timeout: '30s' }),
    'a number of milliseconds',
  ],
  ['a timeout of 0', () => messaging({ ...base, timeout: 0 }), 'above 0'],
  ['retries below 0', () => messaging({ ...base, retries: -1 }), 'a whole number from 0 up'],
  [
    'a limit of 0',
    () => messaging({ ...base, rateLimit: { limit: 0 } }),
    '`rateLimit.limit` must be a number above 0',
  ],
  ['a number for a limit', () => messaging({ ...base, rateLimit: 10 }), 'such as { limit: 1000'],
  [
    'all headroom',
    () => messaging({ ...base, rateLimit: { headroom: 1 } }),
    'at least 0 and less than 1',
  ],
  ['validation: false', () => messaging({ ...base, validation: false }), "{ requests: 'off' }"],
  [
    'an unknown value of validation',
    () => messaging({ ...base, validation: { requests: 'warn' } }),
    "one of 'throw', 'off'",
  ],
  [
    'a fetch that is not a function',
    () => messaging({ ...base, fetch: {} }),
    '`fetch` must be a function',
  ],
  ['logger: true', () => messaging({ ...base, logger: true }), 'such as `console`'],
  ['a path for a journal', () => media({ ...base, journal: './jobs.json' }), 'fileJournal(path)'],
];
