import { memoryJournal } from 'postreel';
import { saveTo } from 'postreel/node';
import { redisJournal, redisRateBudget } from 'postreel/redis';
import {
  createClock,
  createFakeMedia,
  createFakeMessaging,
  startFakeServer,
  testJournal,
} from 'postreel/testing';
import { createTrackProxy } from 'postreel/tracker/proxy';
import { createInbox, memorySeen, signWebhookUrl, verifyWebhook } from 'postreel/webhooks';
import { baseUrl, tracker, type Misuse } from './subjects.js';

const secret = 'a secret of at least 16 characters';
const url = 'https://shop.example/done';
const redis = { eval: () => Promise.resolve(null), evalsha: () => Promise.resolve(null) };

/** Wrong options of the other entry points: each error names the option. */
export const elsewhere: readonly Misuse[] = [
  ...(
    [
      ['a short secret', { secret: 'short' }, /secret/],
      ['an inbox without a secret', {}, /secret/],
      ['an invalid store of nonces', { secret, seen: {} }, '`seen` must be'],
      [
        'an `onError` that is not a function',
        { secret, onError: 'log' },
        '`onError` must be a function',
      ],
      ['`confirm: "no"`', { secret, confirm: 'no' }, '`confirm` must be'],
    ] as const
  ).map(([name, options, says]): Misuse => [name, () => createInbox(options as never), says]),
  [
    'a signature without an expiry',
    () => signWebhookUrl(url, { secret, expiresIn: -1 }),
    '`expiresIn` must be',
  ],
  ['a callback without a secret', () => verifyWebhook({ url, body: {} }, {} as never), /secret/],
  ['a store for 0 nonces', () => memorySeen({ max: 0 }), '`max` must be'],
  ['an empty prefix', () => redisRateBudget(redis, { prefix: '' }), '`prefix` must be'],
  [
    'an empty prefix of a journal',
    () => redisJournal(redis, { prefix: null as never }),
    '`prefix` must be',
  ],
  [
    'a download without end',
    () => saveTo('{fileId}.mp4', { timeout: '1m' as never }),
    '`timeout` must be',
  ],
  ['a clock that runs backwards', () => createClock({ speed: -1 }), '`speed` must be'],
  [
    'a fake with half a limit',
    () => createFakeMessaging({ rateLimit: { limit: '10' as never } }),
    '`rateLimit.limit` must be',
  ],
  ['a fake with wrong durations', () => createFakeMedia({ durations: 5 as never }), '`durations`'],
  [
    'an invalid fault',
    () => createFakeMessaging().fail('POST /v1/send', { status: '503' as never }),
    '`status` must be',
  ],
  [
    'a fault of an unknown endpoint',
    () => createFakeMessaging().fail('POST /v1/sent' as never, { status: 503 }),
    "Did you mean 'POST /v1/send'?",
  ],
  [
    'a fraction of a contact',
    () => createFakeMessaging().seed({ contacts: 0.5 }),
    '`contacts` must be',
  ],
  ['a port in words', () => startFakeServer({ port: 'http' as never }), '`port` must be'],
  [
    'runs in words',
    () => testJournal(() => memoryJournal(), { runs: 'all' as never }),
    '`runs` must be',
  ],
  ['a proxy without a key', () => createTrackProxy({ baseUrl } as never), /apiKey/],
  ['a maxAge in words', () => tracker({ publicKey: 'pk_a', baseUrl, maxAge: '1d' }), 'maxAge'],
  [
    'an unknown value of consent',
    () => tracker({ publicKey: 'pk_a', baseUrl, consent: true }),
    'consent',
  ],
];
