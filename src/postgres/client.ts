import { sleep } from '../core/async.js';
import { ConfigurationError } from '../core/errors.js';
import { isRecord } from '../core/values.js';

/** The part of a Postgres client that the stores use. A pool of `pg` has it, and so has PGlite. */
export interface PostgresClient {
  /** Runs one statement with its values. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/** Throws for an unsupported client when the store is created, before the first call needs it. */
export function checkPostgres(pool: unknown, where: string): void {
  if (!isRecord(pool) || typeof pool['query'] !== 'function') {
    throw poolMissing(`\`${where}()\``);
  }
  if (foreignMethods.some((name) => typeof pool[name] === 'function')) {
    throw poolMissing(`\`${where}()\``, pool);
  }
}

// Methods of clients whose `query` takes or returns something else: pg-promise and Slonik, TypeORM,
// Sequelize.
const foreignMethods = ['any', 'createQueryRunner', 'getQueryInterface'];

function poolMissing(owner: string, given?: unknown): ConfigurationError {
  const isPgPromise = isRecord(given) && '$pool' in given;
  const hint = isPgPromise ? ' With pg-promise, pass `db.$pool`.' : '';
  const refusal = given === undefined ? '' : ' A client of another package does not fit.';
  return new ConfigurationError(
    `${owner} needs a Postgres pool. Install \`pg\` and pass \`new Pool({ connectionString })\`.${refusal}${hint}`,
    { code: 'POSTGRES_MISSING' },
  );
}

/**
 * Runs a statement and returns its rows. Repeats a statement that failed because of a conflict with another
 * one.
 */
export async function queryRows(
  pool: PostgresClient,
  text: string,
  values: unknown[],
): Promise<readonly unknown[]> {
  warnWithoutListener(pool);
  for (let tries = 1; ; tries++) {
    try {
      return readRows(await pool.query(text, values));
    } catch (error) {
      if (isNotMigrated(error)) {
        throw notMigrated(error);
      }
      if (tries === maxTries || !isConflict(error)) {
        throw error;
      }
    }
    await sleep(Math.random() * Math.min(maxPauseMs, 2 * tries), undefined);
  }
}

// The tries take some seconds, as long as a call waits for a slot.
const maxTries = 100;
const maxPauseMs = 100;

function readRows(result: unknown): readonly unknown[] {
  if (isRecord(result) && Array.isArray(result['rows'])) {
    return result['rows'];
  }
  throw poolMissing('A store of `postreel/postgres`', 'another client');
}

const seenPools = new WeakSet<object>();

/**
 * Warns once if nothing listens for the pool's `error` event. A pool emits it when the server ends an idle
 * connection, and Node then ends the process. The pool belongs to the caller, so this adds no listener.
 */
export function warnWithoutListener(pool: PostgresClient): void {
  if (seenPools.has(pool)) {
    return;
  }
  seenPools.add(pool);
  const { listenerCount } = pool as { listenerCount?: unknown }; // an event emitter, or a plain object
  if (typeof listenerCount === 'function' && listenerCount.call(pool, 'error') === 0) {
    process.emitWarning(
      "The Postgres pool has no listener for `error`, so a restart of Postgres ends this process. Add `pool.on('error', (error) => console.error(error.message))`.",
      'PostreelWarning',
    );
  }
}

// serialization_failure and deadlock_detected: the statement had no effect, and may succeed at once.
function isConflict(error: unknown): boolean {
  return isRecord(error) && (error['code'] === '40001' || error['code'] === '40P01');
}

// undefined_table, undefined_function and undefined_column.
function isNotMigrated(error: unknown): boolean {
  return isRecord(error) && ['42P01', '42883', '42703'].includes(String(error['code']));
}

function notMigrated(cause: unknown): ConfigurationError {
  return new ConfigurationError(
    'This database does not have the tables and functions of postreel. Call `await migratePostgres(pool)` of `postreel/postgres` once before the first call, or run `postgresMigration` with your migrations.',
    { code: 'POSTGRES_NOT_MIGRATED', cause },
  );
}
