import { readOptions, text as textOption } from '../core/options.js';
import type { JournalItem, JournalStore } from '../core/once/journal.js';
import { checkPostgres, queryRows, type PostgresClient } from './client.js';

/** Options of {@link postgresJournal}. */
export interface PostgresJournalOptions {
  /**
   * The name of the journal, to separate several of them, e.g. those of several projects. Without it a client
   * needs a `rateLimit.group`, since several projects may use one database. @default 'default'
   */
  name?: string | undefined;
}

const owner = { name: '`postgresJournal()`', example: "{ name: 'shop' }" };

/**
 * A journal in Postgres, for `new MediaClient({ journal })`, shared by any number of machines.
 *
 * @param pool - A pool of `pg`, or anything with `query(text, values)`; you close it yourself. Run
 *   `migratePostgres(pool)` once before.
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
      // Each change is one atomic step.
      const change =
        to === undefined
          ? statements.remove
          : from === undefined
            ? statements.add
            : statements.change;
      const values = [from, to].filter((value) => value !== undefined);
      const isNothing = values.length === 0;
      const changed = isNothing ? [] : await queryRows(pool, change, [journal, key, ...values]);
      return changed.length > 0 ? to : (await this.get(key))?.value;
    },
    async get(key) {
      return itemsOf(await queryRows(pool, statements.get, [journal, key]))[0];
    },
    async list(prefix, { after, limit } = {}) {
      const isBehind = after !== undefined && after >= prefix;
      const values = [journal, isBehind ? after : prefix, `${prefix}\x7f`, limit ?? null];
      return itemsOf(await queryRows(pool, isBehind ? statements.after : statements.from, values));
    },
  };
}

const item = 'key, value, extract(epoch from clock_timestamp() - at) * 1000 as age';
const items = `select ${item} from postreel_journal where journal = $1`;
const statements = {
  add: `insert into postreel_journal (journal, key, value) values ($1, $2, $3)
    on conflict (journal, key) do nothing returning key`,
  change: `update postreel_journal set value = $4, at = clock_timestamp()
    where journal = $1 and key = $2 and value = $3 returning key`,
  remove: `delete from postreel_journal where journal = $1 and key = $2 and value = $3 returning key`,
  get: `${items} and key = $2`,
  from: `${items} and key >= $2 and key < $3 order by key limit $4`,
  after: `${items} and key > $2 and key < $3 order by key limit $4`,
};

interface JournalRow {
  readonly key: string;
  readonly value: string;
  readonly age: string | number;
}

function itemsOf(rows: readonly unknown[]): JournalItem[] {
  return (rows as readonly JournalRow[]).map(({ key, value, age: ageMs }) => ({
    key,
    value,
    ageMs: Math.max(0, Number(ageMs)),
  })); // as: the selected columns
}
