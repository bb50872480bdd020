import type { JobRecord } from '../media/jobs/job.js';
import type {
  JobJournal,
  JournalAnswer,
  JournalEntry,
  JournalIntent,
  NamedJob,
} from '../media/jobs/journal-types.js';
import { checkClient, run, type RedisClient, type Script } from './client.js';
import * as scripts from './journal-scripts.js';

/** How a journal in Redis is kept. */
export interface RedisJournalOptions {
  /**
   * What the names of its keys begin with; another one is another journal.
   * @default 'postreel'
   */
  prefix?: string | undefined;
}

/**
 * A journal in Redis, for `new MediaClient({ journal })`, shared by any number of machines. It keeps
 * what is not over, and the names of jobs for good. A journal is as safe as its Redis: turn on
 * `appendonly` with `appendfsync always` and `maxmemory-policy noeviction`, or use Postgres.
 *
 * @param redis - A client of `ioredis`, which stays yours to close. Redis 5 or newer.
 */
export function redisJournal(
  redis: RedisClient,
  { prefix = 'postreel' }: RedisJournalOptions = {},
): JobJournal {
  checkClient(redis, 'redisJournal');
  const names = kinds.map((kind) => `{${prefix}:journal}:${kind}`);
  const call = (script: Script, args: readonly (string | number)[]) =>
    run(redis, script, names, args);
  return {
    async claim(intent) {
      return namesIn(await call(scripts.claim, intentArguments(intent)));
    },
    async append(entry) {
      const [script, args] = scriptFor(entry);
      await call(script, args);
    },
    async find(wanted) {
      return namesIn(await call(scripts.find, wanted));
    },
    async pending() {
      const [files, calls] = (await call(scripts.pending, [])) as [Pair[], Pair[]]; // as it answers
      const listed = files.map(([text, status]) => ({
        job: JSON.parse(text) as JobRecord,
        status,
      })); // as written
      return {
        jobs: listed.map(({ job }) => job),
        finished: listed.filter(({ status }) => status !== '').map(({ job }) => job),
        unknown: calls.map(intentLeft).filter(({ jobs }) => jobs.length > 0),
      };
    },
  };
}

type Pair = readonly [string, string];

const kinds = [
  'intents',
  'left',
  'facts',
  'claims',
  'names',
  'jobs',
  'status',
  'listed',
  'open',
  'named',
];

function scriptFor(entry: JournalEntry): [Script, readonly (string | number)[]] {
  switch (entry.type) {
    case 'intent':
      return [scripts.intent, intentArguments(entry)];
    case 'accepted':
      return [scripts.accept, answerArguments(entry)];
    case 'refused':
      return [scripts.refuse, [entry.id]];
    case 'finished': {
      const isFailure = entry.status === 'error' || entry.status === 'canceled';
      return [scripts.finish, [entry.fileId, entry.status, isFailure ? 1 : 0]];
    }
    case 'settled':
      return [scripts.finish, [entry.fileId, entry.status, 1]];
  }
}

function intentArguments(intent: JournalIntent): (string | number)[] {
  const { id, jobs, names = [], retriesFailed = false } = intent;
  const count = Math.max(jobs.length, names.length);
  return [id, JSON.stringify(intent), JSON.stringify(names), String(retriesFailed), count];
}

function answerArguments({ id, jobs, unassigned = [] }: JournalAnswer): (string | number)[] {
  const pairs = [...jobs, ...unassigned].flatMap((job) =>
    job ? [job.fileId, JSON.stringify(job)] : ['', ''],
  );
  return [id, jobs.length, ...pairs];
}

// Only the jobs and names whose places are left.
function intentLeft([text, left]: Pair): JournalIntent {
  const intent = JSON.parse(text) as JournalIntent; // as written
  const places = new Set(left.split('\n').map(Number));
  const isLeft = (_: unknown, index: number) => places.has(index + 1);
  const jobs = intent.jobs.filter(isLeft);
  const names = intent.names?.filter(isLeft);
  return names ? { ...intent, jobs, names } : { ...intent, jobs };
}

function namesIn(answer: unknown): Map<string, NamedJob> {
  const rows = answer as readonly (readonly [string, string, string, string | number])[]; // as the scripts answer
  return new Map(
    rows.map(([name, state, what, more]): [string, NamedJob] =>
      state === 'accepted'
        ? [name, { state, job: JSON.parse(what) as JobRecord, status: String(more) || undefined }] // as written
        : [name, { state: 'claimed', id: what, ageMs: Number(more) }],
    ),
  );
}
