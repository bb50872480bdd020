import { PGlite } from '@electric-sql/pglite';
import { Pool } from 'pg';
import { migratePostgres, postgresRateBudget, type PostgresClient } from 'postreel/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  noPostgres,
  startPostgres,
  type PostgresServer,
} from '../support/stores/postgres-server.js';
import { rateBudgetContract } from '../support/stores/rate-budget-contract.js';

const limits = { limit: 2, windowMs: 60_000, headroom: 0 };
const leaseMs = 70_000;

console.log(
  noPostgres === undefined
    ? 'postgresRateBudget is tested with PostgreSQL; its tests on PGlite are skipped (`PGLITE=1` asks for both).'
    : `postgresRateBudget is tested with PGlite only, on one connection: ${noPostgres}.`,
);

/** The tests of a store on a database. */
function tests(open: () => PostgresClient): void {
  rateBudgetContract(
    () => postgresRateBudget(open()) as Required<ReturnType<typeof postgresRateBudget>>,
  );

  it('uses the time of the server: a sender whose clock is a day ahead counts like any other', async () => {
    const store = postgresRateBudget(open());
    const real = Date.now;
    Date.now = () => real() + 86_400_000;
    try {
      await store.take('skewed', limits, leaseMs);
    } finally {
      Date.now = real;
    }
    await store.take('skewed', limits, leaseMs);
    expect(await store.take('skewed', limits, leaseMs)).toEqual({ waitMs: 60_000 });
  });

  it('can be migrated again, also by several processes at the same time', async () => {
    const store = postgresRateBudget(open());
    await store.take('kept', { ...limits, limit: 1 }, leaseMs);
    await Promise.all([1, 2, 3].map(() => migratePostgres(open())));
    expect(await store.take('kept', { ...limits, limit: 1 }, leaseMs)).toHaveProperty('waitMs');
  });
}

describe.skipIf(noPostgres)('postgresRateBudget on PostgreSQL', () => {
  let server: PostgresServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool({ connectionString: server.url });
    pool.on('error', () => undefined); // the server is restarted
    await Promise.all([1, 2, 3].map(() => migratePostgres(pool)));
  });
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  tests(() => pool);

  it.each(['repeatable read', 'serializable'])(
    'keeps the limit if the default isolation is %s',
    async (isolation) => {
      const strict = new Pool({
        connectionString: server.url,
        options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`,
      });
      const { rows } = await strict.query('show transaction_isolation');
      expect(rows).toEqual([{ transaction_isolation: isolation }]);
      const processes = [1, 2, 3, 4].map(() => postgresRateBudget(strict));
      const limit = 30;
      const asked = await Promise.all(
        Array.from({ length: 60 }, async (_, index) => {
          const store = processes[index % 4]!;
          const answer = await store.take(
            isolation,
            { ...limits, limit },
            leaseMs,
            1 + (index % 3),
          );
          if ('waitMs' in answer) {
            return [];
          }
          await Promise.all(answer.slots.map((slot) => store.release(isolation, slot, limits)));
          return answer.slots;
        }),
      );
      expect(new Set(asked.flat()).size).toBe(limit);
      await strict.end();
    },
  );

  it('reads numbers even if the driver returns them as text', async () => {
    const getTypeParser = () => (text: string) => text;
    const texts = new Pool({ connectionString: server.url, types: { getTypeParser } });
    const store = postgresRateBudget(texts);
    await store.take('texts', { ...limits, limit: 1 }, leaseMs);
    expect(await store.take('texts', { ...limits, limit: 1 }, leaseMs)).toEqual({ waitMs: 60_000 });
    await texts.end();
  });

  it('remembers the sent requests after a crash of the server', async () => {
    const store = postgresRateBudget(pool);
    await store.take('crashed', limits, leaseMs);
    await store.take('crashed', limits, leaseMs);
    await new Promise((resolve) => setTimeout(resolve, 700)); // three times the writer's delay
    await server.restart();
    expect(await store.take('crashed', limits, leaseMs)).toHaveProperty('waitMs');
  });
});

// A real server is the better judge, if there is one; `PGLITE=1` runs the tests on both.
describe.skipIf(noPostgres === undefined && !process.env['PGLITE'])(
  'postgresRateBudget on PGlite',
  () => {
    let database: PGlite;
    beforeAll(async () => {
      database = await PGlite.create();
      await migratePostgres(database);
    });
    afterAll(() => database.close());

    tests(() => database);
  },
);
