import { readOptions, text as textOption } from '../core/options.js';
import type { JournalItem, JournalStore } from '../core/journal.js';
import { checkPostgres, rowsOf, type PostgresClient } from './client.js';

/** How a journal in Postgres is kept. */
export interface PostgresJournalOptions {
  /**
   * Keeps several journals apart, e.g. those of several projects. Without it a client needs a
   * `rateLimit.group`, since several projects may use one database.
   * @default 'default'
   */
  name?: string | undefined;
}

const owner = { name: '`postgresJournal()`', example: "{ name: 'shop' }" };

/**
 * A journal in Postgres, for `new MediaClient({ journal })`, shared by any number of machines.
 *
 * @param pool - A pool of `pg`, or anything with `query(text, values)`, which stays yours to close.
 *   Run `migratePostgres(pool)` once before.
 */
export function postgresJournal(
  pool: PostgresClient,
  options?: PostgresJournalOptions,
): JournalStore {
  checkPostgres(pool, 'postgresJournal');
  const { name } = readOptions(options, { name: textOption }, owner);
  const journal = name ?? 'default';
  return {
    needsGroup: name === undefined ? 'give `postgresJournal()` a `name`' : undefined,
    async swap(key, from, to) {
      const own = [journal, key];
      const [before, after] = [from, to].map((value) => value && value);
      if (after === undefined) {
        const text = `delete from postreel_journal where journal = $1 and key = $2 and value = $3`;
        await rowsOf(pool, text, [...own, before]);
      } else if (before === undefined) {
        const text = `insert into postreel_journal (journal, key, value) values ($1, $2, $3)
          on conflict (journal, key) do nothing`;
        await rowsOf(pool, text, [...own, after]);
      } else {
        const text = `update postreel_journal set value = $4, at = clock_timestamp()
          where journal = $1 and key = $2 and value = $3`;
        await rowsOf(pool, text, [...own, before, after]);
      }
      // Each is one atomic step; what stands by then was written by it, or by another one.
      return (await this.get(key))?.value;
    },
    async get(key) {
      const text = `select key, value, ${age} from postreel_journal where journal = $1 and key = $2`;
      return itemsOf(await rowsOf(pool, text, [journal, key]))[0];
    },
    async list(prefix, { after, limit } = {}) {
      const from = prefix;
      const isBehind = after !== undefined && after >= prefix;
      const text = `select key, value, ${age} from postreel_journal
        where journal = $1 and key ${isBehind ? '>' : '>='} $2 and key < $3 order by key limit $4`;
      const values = [journal, isBehind ? after : from, `${from}\x7f`, limit ?? null];
      const rows = await rowsOf(pool, text, values);
      return itemsOf(rows);
    },
  };
}

const age = 'extract(epoch from clock_timestamp() - at) * 1000 as age';

interface Row {
  readonly key: string;
  readonly value: string;
  readonly age: string | number;
}

function itemsOf(rows: readonly unknown[]): JournalItem[] {
  return (rows as readonly Row[]).map(({ key, value, age: ageMs }) => ({
    key: key,
    value: value,
    ageMs: Math.max(0, Number(ageMs)),
  })); // as selected
}
