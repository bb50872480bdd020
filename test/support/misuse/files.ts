import {
  baseUrl,
  d,
  job,
  video,
  audio,
  tracker,
  first,
  g,
  mediaOfFake,
  type Misuse,
} from './subjects.js';

/** Calls to the media service, waits and queues. */
export const files: readonly Misuse[] = [
  [
    'one job without a voice',
    () => g['video']?.({ ...job, voiceId: undefined }),
    'not sent: `voiceId` is required',
  ],
  [
    'ids in place of one',
    () => d['waitForFile']?.(['f1']),
    'wait for several with `waitForFiles()`',
  ],
  ['a list of jobs', () => g['video']?.([job]), 'as one object; got a list'],
  ['no voice', () => video({ voiceId: undefined }), '`payload[0].voiceId` is required'],
  [
    'content for an idea',
    () => video({ prompt: undefined, content: 'x' }),
    '`payload[0].prompt` is required for `workflowType` "idea"',
  ],
  [
    'seconds for minutes',
    () => video({ duration: 60 }),
    '`payload[0].duration` must be at most 15; got 60',
  ],
  ['a model without AI', () => video({ aiVideoModel: 'ai-video-b' }), 'needs `visuals` "ai"'],
  ['an unknown aspect ratio', () => video({ aspectRatio: '4:3' }), 'one of "16:9", "9:16", "1:1"'],
  [
    'a text that is too long',
    () => audio({ content: 'x'.repeat(10_001) }),
    'at most 10000 characters; got 10001',
  ],
  [
    'a webhook without an origin',
    () => audio({ webhook: '/hook' }),
    'an absolute http or https URL',
  ],
  [
    'a wait without an id',
    () => d['waitForFile']?.(),
    '`fileId` must be the id of a file; got undefined',
  ],
  ['a wait for a job', () => d['waitForFile']?.({ fileId: 'file_1' }), 'got an object'],
  [
    'an interval below 0',
    () => d['waitForFile']?.('file_1', { interval: -1 }),
    "a number of milliseconds, a function or 'auto'",
  ],
  [
    'a wait of 10m',
    () => d['waitForFile']?.('file_1', { timeout: '10m' }),
    'a number of milliseconds',
  ],
  ['a list in place of a job', () => d['job']?.([{}]), 'must be one job; got a list'],
  [
    'the id of a list of jobs',
    () => d['waitForFile']?.(undefined),
    'did it come from a list of jobs?',
  ],
  [
    'a wait of 50 that means seconds',
    async () => {
      const made = await mediaOfFake().generate.audio({ content: 'Hi', voiceId: 'v' });
      await made.waitForFile({ timeout: 50 });
    },
    /not finished within \d+ ms .* Call `resume\({ timeout }\)`/,
  ],
  [
    'a wait for the list of jobs',
    async () => {
      const made: unknown = await mediaOfFake().generate.video({ payload: [job as never] });
      (made as { waitForFile(): void }).waitForFile();
    },
    '`const [job] = await …`',
  ],
  [
    'one id for a list',
    () => d['waitForFiles']?.('file_1'),
    '`fileIds` must be a list; got a string',
  ],
  [
    'settle: allSettled',
    () => d['waitForFiles']?.(['file_1'], { settle: 'allSettled' }),
    "one of 'all', 'any', 'first-error'",
  ],
  [
    'a queue of a request',
    () => first({ payload: [job] }),
    'must be a list, a generator or an async source of jobs',
  ],
  ['a queue of a promise', () => first(Promise.resolve([job])), '`await` it first'],
  ['a queue of bad jobs', () => first([{ ...job, voiceId: undefined }]), '`voiceId` is required'],
  [
    'a named queue without a journal',
    () => first([job], { name: 'a' }),
    'new MediaClient({ journal })',
  ],
  ['a folder for save', () => first([job], { save: './out' }), '`save` must be a function'],
  [
    'for in place of for await, over a queue',
    () => Array.from(mediaOfFake().queue([]) as unknown as Iterable<unknown>), // as: plain JavaScript
    'use `for await (const result of queue)`',
  ],
  [
    'a queue of -1 jobs',
    () => first([job], { maxJobs: -1 }),
    '`maxJobs` must be a number of 0 or more',
  ],
];

/** Trackers in a page. */
export const pages: readonly Misuse[] = [
  [
    'a tracker with a secret key',
    () => tracker({ publicKey: 'sk_a', baseUrl }),
    'publicKey must start with pk_',
  ],
  [
    'an age in weeks',
    () => tracker({ publicKey: 'pk_a', baseUrl, maxAge: '1w' }),
    'maxAge is in ms',
  ],
];
