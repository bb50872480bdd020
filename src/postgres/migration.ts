import { checkPostgres, type PostgresClient } from './client.js';
import { rateBudgetTables } from './rate-budget-tables.js';
import { journalTables } from './journal-tables.js';

/**
 * The tables and functions of this package as SQL, for those who run their migrations by
 * themselves. It may be run again, and drops nothing.
 */
export const postgresMigration = rateBudgetTables + journalTables;

// Any number of our own: two migrations at once would disturb each other.
const migrationLock = 7_067_843_121;

/** Creates the tables and functions of this package where they are missing. */
export async function migratePostgres(pool: PostgresClient): Promise<void> {
  checkPostgres(pool, 'migratePostgres');
  // One statement, so that the lock and the tables share a transaction on a pool too.
  await pool.query(`do $migration$ begin
    perform pg_advisory_xact_lock(${migrationLock});
    ${postgresMigration}
  end $migration$`);
}
