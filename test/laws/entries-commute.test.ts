import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import {
  MediaClient,
  memoryJournal,
  MessagingClient,
  type JournalStore,
  type MediaJob,
  type QueueResult,
} from 'postreel';
import { fileJournal, fileRateBudgetStore, fileWorkflowState } from 'postreel/node';
import { createClock, createFakeMedia } from 'postreel/testing';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { expectToCommute, histories } from '../support/laws/entries.js';
import { ended } from '../support/laws/settled.js';
import { ListSource } from '../support/media/list-source.js';
import { tracked } from '../support/msw.js';
import fc, { runs } from '../support/property.js';
import { holdLaw, type Subject } from './exceptions.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-law-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

let files = 0;
const stores: Readonly<Record<string, () => () => JournalStore>> = {
  memory: () => {
    const journal = memoryJournal();
    return () => journal;
  },
  'a file': () => {
    const path = join(folder, `journal ${files++}.jsonl`);
    return () => fileJournal(path);
  },
};

it(
  'entries commute: any order of them, twice or at once, comes to the same',
  async () => {
    const subjects = Object.entries(stores).flatMap(([name, create]) =>
      [false, true].map((isAtOnce): Subject => ({
        name: `the entries of ${name}, ${isAtOnce ? 'at once' : 'one by one, with restarts'}`,
        check: async () => {
          let entries = 0;
          const numRuns = runs(name === 'memory' ? 100 : 15);
          await fc.assert(
            fc.asyncProperty(histories, async (history) => {
              entries += await expectToCommute(history, create(), isAtOnce);
            }),
            { numRuns },
          );
          console.log(`${name}: ${entries} entries of ${numRuns} histories`);
        },
      })),
    );
    await holdLaw('law 6, orders of entries', subjects);
  },
  runs(180_000),
);

const film = (prompt: string) =>
  ({ workflowType: 'idea', workflowFormat: 'video', prompt, voiceId: 'v' }) as const;
const films = ['Cats', 'Dogs', 'Cats', 'Owls'].map(film);

/** A media service that takes any key, and how many films it was paid for. */
function mediaService() {
  const fake = createFakeMedia({
    durations: () => 1,
    queueTime: 1,
    clock: createClock({ now: () => Date.now() }),
  });
  const fetched = tracked(fake.fetch);
  const client = (options: { journal: JournalStore; apiKey?: string; baseUrl?: string }) =>
    new MediaClient({
      apiKey: 'any',
      baseUrl: fake.baseUrl,
      rateLimit: false,
      ...options,
      fetch: (input, init) => {
        const request = new Request(input, init);
        request.headers.set('authorization', `Bearer ${fake.apiKey}`);
        return fetched(request);
      },
    });
  return { fake, client };
}

/** The results of a queue, whose time passes by itself. */
async function collect(queue: AsyncIterable<QueueResult>): Promise<QueueResult[]> {
  const results: QueueResult[] = [];
  const drain = async () => {
    for await (const result of queue) {
      results.push(result);
    }
  };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  const end = await ended(drain());
  vi.useRealTimers();
  expect(end).toHaveProperty('value');
  return results.sort((one, other) => one.index - other.index);
}

/** The films that each run gets for its jobs, and how many were paid for. */
async function runsOf(
  first: { jobs?: readonly MediaJob[]; apiKey?: string; baseUrl?: string; name?: string },
  second: typeof first,
) {
  const { fake, client } = mediaService();
  const journal = memoryJournal();
  const filesOf: string[][] = [];
  for (const { jobs = films, name = 'films', ...options } of [first, second]) {
    const results = await collect(client({ journal, ...options }).queue(jobs, { name }));
    filesOf.push(results.map(({ file, error }) => file?.fileId ?? String(error)));
  }
  return { paid: fake.files.length, filesOf, address: fake.baseUrl };
}

async function mailsOf(
  first: { people: readonly string[]; apiKey?: string; baseUrl?: string; key?: string },
  second: typeof first,
): Promise<string[]> {
  const mailed: string[] = [];
  const journal = memoryJournal();
  for (const { people, key = 'news', ...options } of [first, second]) {
    const messaging = new MessagingClient({
      apiKey: 'sk_one',
      baseUrl: 'https://messaging.test',
      rateLimit: false,
      journal,
      ...options,
      fetch: async (input, init) => {
        const { to } = (await new Request(input, init).json()) as { to: string };
        mailed.push(to);
        return Response.json({ emails: [{ email: `em_${mailed.length}` }] });
      },
    });
    const message = { from: 'shop@example.com', subject: 'News', body: 'Hi' };
    await messaging.sendEach(people, message, { key });
  }
  return mailed;
}

/** Ways to write the path of one file. */
async function spellingsOf(name: string): Promise<string[]> {
  const path = join(folder, name);
  await mkdir(join(folder, 'inner'), { recursive: true });
  await symlink(path, join(folder, `link-${name}`));
  await symlink(folder, join(folder, `folder-${name}`));
  return [
    path,
    relative(process.cwd(), path),
    `${folder}/inner/../${name}`,
    `${folder}//./${name}`,
    join(folder, `link-${name}`),
    join(folder, `folder-${name}`, name),
  ];
}

const identities: readonly Subject[] = [
  {
    name: 'a job of a queue is not its position',
    check: async () => {
      const other = [films[3], films[2], films[1], films[0]].flatMap((one) => one ?? []);
      const { paid, filesOf } = await runsOf({}, { jobs: other });
      expect(paid).toBe(4);
      // The two equal ones may be either of each other.
      expect(filesOf[1]?.[0]).toBe(filesOf[0]?.[3]);
      expect(filesOf[1]?.[2]).toBe(filesOf[0]?.[1]);
      expect(new Set(filesOf[1])).toEqual(new Set(filesOf[0]));
    },
  },
  {
    name: 'a job of a queue is not where it stands among others',
    check: async () => {
      const { paid, filesOf } = await runsOf({}, { jobs: [film('Bees'), ...films] });
      expect(paid).toBe(5);
      expect(filesOf[1]?.slice(1)).toEqual(filesOf[0]);
    },
  },
  {
    name: 'a job of a queue is not the order of its fields',
    check: async () => {
      const turned = films.map(
        (one) => Object.fromEntries(Object.entries(one).reverse()) as unknown as MediaJob,
      );
      const { paid, filesOf } = await runsOf({}, { jobs: turned });
      expect([paid, filesOf[1]]).toEqual([4, filesOf[0]]);
    },
  },
  {
    name: 'a project is not its key, which rotates',
    check: async () => {
      const { paid, filesOf } = await runsOf({ apiKey: 'old' }, { apiKey: 'new' });
      expect([paid, filesOf[1]]).toEqual([4, filesOf[0]]);
      const people = ['ann@example.com', 'bea@example.com'];
      const mailed = await mailsOf({ people, apiKey: 'sk_old' }, { people, apiKey: 'sk_new' });
      expect(mailed).toEqual(people);
    },
  },
  {
    name: 'a project is not a spelling of its address',
    check: async () => {
      const people = ['ann@example.com'];
      for (const baseUrl of ['https://messaging.test/', 'HTTPS://Messaging.TEST:443//']) {
        expect(await mailsOf({ people }, { people, baseUrl })).toEqual(people);
      }
    },
  },
  {
    name: 'another address is another project',
    check: async () => {
      const people = ['ann@example.com'];
      const baseUrl = 'https://messaging.test/eu';
      expect(await mailsOf({ people }, { people, baseUrl })).toHaveLength(2);
    },
  },
  {
    name: 'a queue is not a prefix of another one',
    check: async () => {
      for (const name of ['films/eu', 'film', 'films ', 'Films']) {
        const { paid } = await runsOf({}, { name });
        expect(paid, name).toBe(8);
      }
    },
  },
  {
    name: 'a mailing is not a prefix of another one, and a recipient none of another',
    check: async () => {
      const people = ['ann@example.com'];
      for (const key of ['news/2', 'new', 'News', 'news/ann@example.com']) {
        expect(await mailsOf({ people }, { people, key }), key).toHaveLength(2);
      }
      const longer = ['ann@example.com.de', 'nn@example.com'];
      expect(await mailsOf({ people }, { people: longer })).toHaveLength(3);
    },
  },
  {
    name: 'a recipient is not a spelling of the address',
    check: async () => {
      const mailed = await mailsOf(
        { people: ['ann@example.com'] },
        { people: ['ANN@Example.com', ' ann@example.com'] },
      );
      expect(mailed).toEqual(['ann@example.com']);
    },
  },
  {
    name: 'a file is not a prefix of another one',
    check: async () => {
      const journal = memoryJournal();
      const answers = ['file_1', 'file_1/2', 'file_12'];
      const media = new MediaClient({
        apiKey: 'k',
        baseUrl: 'https://media.test',
        journal,
        rateLimit: false,
        fetch: () => Promise.resolve(Response.json({ data: { fileId: answers.shift() } })),
      });
      for (const content of ['One', 'Two', 'Three']) {
        await media.generate.audio({ content, voiceId: 'v' });
      }
      // A client that has not seen them itself looks for them in the journal.
      const other = new MediaClient({ apiKey: 'k', baseUrl: 'https://media.test', journal });
      await other.journal.acknowledge('file_1');
      const { jobs } = await other.journal.pending();
      expect(jobs.map(({ fileId }) => fileId).sort()).toEqual(['file_1/2', 'file_12']);
    },
  },
  {
    name: 'a job of an engine is not the number of its counter',
    check: async () => {
      const { fake, client } = mediaService();
      const journal = memoryJournal();
      const told: string[][] = [];
      for (const [name, jobs] of [
        ['one', ['Cats', 'Dogs']],
        ['two', ['Owls', 'Bees']],
      ] as const) {
        const source = new ListSource(jobs.map(film), { name });
        await collect(client({ journal }).queue(source));
        told.push(source.told);
      }
      expect(fake.files).toHaveLength(4);
      const ids = told.flat().map((line) => line.split(' ').at(-1));
      expect(new Set(ids).size).toBe(4);
    },
  },
  {
    name: 'a journal in a file is not a spelling of its path',
    check: async () => {
      const spellings = await spellingsOf('journal.jsonl');
      const claims = await Promise.all(
        spellings.map((path, rival) => fileJournal(path).putIfAbsent('a', String(rival))),
      );
      expect(new Set(claims).size).toBe(1);
      const [first] = claims;
      for (const path of spellings) {
        expect([...(await fileJournal(path).get(['a']))]).toEqual([['a', first]]);
      }
    },
  },
  {
    name: 'a budget on disk is not a spelling of its path',
    check: async () => {
      const limits = { limit: 1, windowMs: 60_000, headroom: 0 };
      const answers = await Promise.all(
        (await spellingsOf('budget.json')).map((path) =>
          // A link to the file itself is refused: the process then keeps to the limit by itself.
          fileRateBudgetStore(path)
            .take('project', limits, 60_000)
            .catch((error: unknown) => ({ refused: (error as NodeJS.ErrnoException).code })),
        ),
      );
      expect(answers.filter((answer) => 'refused' in answer)).toEqual([{ refused: 'ELOOP' }]);
      expect(answers.filter((answer) => 'slots' in answer)).toHaveLength(1);
    },
  },
  {
    name: 'the state of workflows is not a spelling of its path',
    check: async () => {
      const [first = '', ...others] = await spellingsOf('workflows.json');
      const state = { version: 1, steps: {}, transitions: {} } as const;
      await fileWorkflowState(first).write('a', state);
      for (const [place, path] of others.entries()) {
        await fileWorkflowState(path).write(`b${place}`, state);
        expect(await fileWorkflowState(first).read(`b${place}`)).toEqual(state);
        expect(await fileWorkflowState(path).read('a')).toEqual(state);
      }
    },
  },
];

it('identity is what a thing is: no position, spelling, prefix, counter or key', async () => {
  await holdLaw('law 6, identities', identities);
});
