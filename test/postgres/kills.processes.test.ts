import { Pool } from 'pg';
import { migratePostgres } from 'postreel/postgres';
import { expect, it } from 'vitest';
import { survive } from '../support/kills/survive.js';
import { noPostgres, startPostgres } from '../support/stores/postgres-server.js';

if (noPostgres !== undefined) {
  console.log(`Kills over a journal in Postgres are not tested: ${noPostgres}.`);
}

it.skipIf(noPostgres)(
  '40 jobs over Postgres survive 20 kills of two processes: none is made twice, none is lost',
  async () => {
    const server = await startPostgres();
    try {
      const pool = new Pool({ connectionString: server.url });
      await migratePostgres(pool);
      await pool.end();
      const outcome = await survive({ journal: 'postgres', at: server.url, jobs: 40, kills: 20 });
      console.log('Postgres:', JSON.stringify(outcome));
      const { twice, lost, wrong, made, unknown } = outcome;
      expect({ twice, lost, wrong }).toEqual({ twice: [], lost: [], wrong: [] });
      expect(made + unknown).toBe(40);
    } finally {
      await server.stop();
    }
  },
);
