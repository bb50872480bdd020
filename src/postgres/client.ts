import { isRecord } from '../contract/records.js';
import { ConfigurationError } from '../errors/index.js';

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

/** The first row of an answer, whose columns the query names. */
export async function rowOf<Row>(
  pool: PostgresClient,
  text: string,
  values: unknown[],
): Promise<Row> {
  const { rows } = await pool.query(text, values);
  return rows[0] as Row; // the query says what it selects
}
