import type { JobRecord } from '../media/jobs/job.js';
import type { JobJournal, JournalIntent, NamedJob } from '../media/jobs/journal-types.js';
import { checkPostgres, type PostgresClient } from './client.js';

/** How a journal in Postgres is kept. */
export interface PostgresJournalOptions {
  /**
   * Keeps several journals apart, e.g. those of several projects.
   * @default 'default'
   */
  name?: string | undefined;
}

/**
 * A journal in Postgres, for `new MediaClient({ journal })`, shared by any number of machines. It
 * keeps what is not over, and the names of jobs for good; nothing reads all of it.
 *
 * @param pool - A pool of `pg`, or anything with `query(text, values)`, which stays yours to close.
 *   Run `migratePostgres(pool)` once before.
 */
export function postgresJournal(
  pool: PostgresClient,
  { name = 'default' }: PostgresJournalOptions = {},
): JobJournal {
  checkPostgres(pool, 'postgresJournal');
  return {
    async claim(intent) {
      const text = 'select name, known from postreel_claim($1, $2::jsonb)';
      const { rows } = await pool.query(text, [name, JSON.stringify(intent)]);
      return namesIn(rows);
    },
    async append(entry) {
      await pool.query('select postreel_append($1, $2::jsonb)', [name, JSON.stringify(entry)]);
    },
    async find(names) {
      const text = 'select name, known from postreel_known($1, $2::text[])';
      const { rows } = await pool.query(text, [name, names]);
      return namesIn(rows);
    },
    async pending() {
      const jobs = await pool.query(
        `select job, status from postreel_jobs where journal = $1 and is_listed order by position`,
        [name],
      );
      const intents = await pool.query(
        `select intent from postreel_intents
          where journal = $1 and jsonb_array_length(intent->'jobs') > 0 order by position`,
        [name],
      );
      const listed = jobs.rows as { job: JobRecord; status: string | null }[]; // as selected
      return {
        jobs: listed.map(({ job }) => job),
        finished: listed.filter(({ status }) => status !== null).map(({ job }) => job),
        unknown: intents.rows.map((row) => (row as { intent: JournalIntent }).intent), // as selected
      };
    },
  };
}

interface KnownRow {
  readonly name: string;
  readonly known: NamedJob & { readonly status?: string | null };
}

function namesIn(rows: readonly unknown[]): Map<string, NamedJob> {
  return new Map(
    (rows as readonly KnownRow[]).map(({ name, known }) => [name, withStatus(known)]), // as selected
  );
}

// JSON has no `undefined`.
function withStatus(known: KnownRow['known']): NamedJob {
  return known.state === 'accepted' ? { ...known, status: known.status ?? undefined } : known;
}
