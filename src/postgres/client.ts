import { sleep } from '../core/async.js';
import { isRecord } from '../core/values.js';
import { ConfigurationError } from '../core/errors.js';

/** What is used of a Postgres client: a pool of `pg` will do, and so will PGlite. */
export interface PostgresClient {
  /** Runs one statement with its values. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/** Refuses what is no Postgres client, before the first call needs one. */
export function checkPostgres(pool: unknown, where: string): void {
  if (isRecord(pool) && typeof pool['query'] === 'function') {
    return;
  }
  throw new ConfigurationError(
    `\`${where}()\` needs a Postgres pool. Install \`pg\` and pass \`new Pool({ connectionString })\`.`,
    { code: 'POSTGRES_MISSING' },
  );
}

/** The rows of an answer. A statement that lost against another one is run again. */
export async function rowsOf(
  pool: PostgresClient,
  text: string,
  values: unknown[],
): Promise<readonly unknown[]> {
  for (let tries = 1; ; tries++) {
    try {
      const { rows } = await pool.query(text, values);
      return rows;
    } catch (error) {
      if (tries === maxTries || !isConflict(error)) {
        throw error;
      }
    }
    await sleep(Math.random() * Math.min(maxPauseMs, 2 * tries), undefined);
  }
}

// Some seconds: as long as a slot is waited for.
const maxTries = 100;
const maxPauseMs = 100;

// serialization_failure and deadlock_detected: the statement had no effect, and may succeed at once.
function isConflict(error: unknown): boolean {
  return isRecord(error) && (error['code'] === '40001' || error['code'] === '40P01');
}
