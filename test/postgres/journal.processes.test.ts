import { PGlite } from '@electric-sql/pglite';
import { Pool } from 'pg';
import { migratePostgres, postgresJournal, type PostgresClient } from 'postreel/postgres';
import { afterAll, beforeAll, describe } from 'vitest';
import { journalContract } from '../support/stores/journal-contract.js';
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

  journalContract((name) => postgresJournal(client, { name }));
});
