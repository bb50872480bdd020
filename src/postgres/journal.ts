import { readOptions, text as textOption } from '../core/options.js';
import { keyOf, storedKey, storedValue, valueOf } from '../journal/stored-text.js';
import type { JournalStore } from '../journal/store.js';
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
    async putIfAbsent(key, value) {
      // The update changes nothing: it makes the statement answer with the row that stands.
      const text = `insert into postreel_journal as j (journal, key, value) values ($1, $2, $3)
        on conflict (journal, key) do update set value = j.value returning value`;
      const values = [journal, storedKey(key), storedValue(value)];
      return valueOf(firstOf(await rowsOf(pool, text, values)).value);
    },
    async put(key, value) {
      const text = `insert into postreel_journal (journal, key, value) values ($1, $2, $3)
        on conflict (journal, key) do update set value = excluded.value`;
      await rowsOf(pool, text, [journal, storedKey(key), storedValue(value)]);
    },
    async get(keys) {
      const text = `select key, value from postreel_journal
        where journal = $1 and key = any ($2::text[])`;
      const rows = await rowsOf(pool, text, [journal, keys.map(storedKey)]);
      return new Map(itemsOf(rows).map(({ key, value }) => [key, value]));
    },
    async list(prefix, { after, limit } = {}) {
      const from = storedKey(prefix);
      const isBehind = after !== undefined && after >= prefix;
      const text = `select key, value from postreel_journal
        where journal = $1 and key ${isBehind ? '>' : '>='} $2 and key < $3 order by key limit $4`;
      const values = [journal, isBehind ? storedKey(after) : from, `${from}\x7f`, limit ?? null];
      const rows = await rowsOf(pool, text, values);
      return itemsOf(rows);
    },
    async delete(keys) {
      const text = 'delete from postreel_journal where journal = $1 and key = any ($2::text[])';
      await rowsOf(pool, text, [journal, keys.map(storedKey)]);
    },
    flush: () => Promise.resolve(), // what was answered is written
    async now() {
      const text = 'select floor(extract(epoch from clock_timestamp()) * 1000) as value';
      return Number(firstOf(await rowsOf(pool, text, [])).value);
    },
  };
}

interface Row {
  readonly key: string;
  readonly value: string;
}

function firstOf([row]: readonly unknown[]): Row {
  return row as Row; // as selected
}

function itemsOf(rows: readonly unknown[]): Row[] {
  return (rows as readonly Row[]).map(({ key, value }) => ({
    key: keyOf(key),
    value: valueOf(value),
  })); // as selected
}
