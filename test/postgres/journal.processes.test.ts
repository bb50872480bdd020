import { PGlite } from '@electric-sql/pglite';
import { Pool } from 'pg';
import { migratePostgres, postgresJournal, type PostgresClient } from 'postreel/postgres';
import { testJournal } from 'postreel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noPostgres, startPostgres } from '../support/stores/postgres-server.js';

const kind = noPostgres === undefined ? 'PostgreSQL' : 'PGlite, on one connection';
console.log(`postgresJournal is tested with ${kind}.`);

describe(`postgresJournal on ${kind}`, () => {
  let client: PostgresClient;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    if (noPostgres === undefined) {
      const server = await startPostgres();
      const pool = new Pool({ connectionString: server.url });
      client = pool;
      stop = async () => {
        await pool.end();
        await server.stop();
      };
    } else {
      const database = await PGlite.create();
      client = database;
      stop = () => database.close();
    }
    await migratePostgres(client);
  });
  afterAll(() => stop());

  it('satisfies the contract of a journal', () =>
    testJournal(() => postgresJournal(client, { name: 'tested' }), { runs: 5 }));

  it('lets one of twenty writers claim a key', async () => {
    const journal = postgresJournal(client, { name: 'strict' });
    const stands = await Promise.all(
      Array.from({ length: 20 }, (_, index) => journal.swap('a', undefined, `"${index}"`)),
    );
    expect(new Set(stands).size).toBe(1);
  });
});
