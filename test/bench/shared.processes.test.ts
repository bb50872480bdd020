import { Pool } from 'pg';
import { migratePostgres } from 'postreel/postgres';
import { afterEach, describe, expect, it } from 'vitest';
import { race } from '../../bench/shared/race.js';
import { noPostgres, startPostgres } from '../support/stores/postgres-server.js';
import { noRedis, startRedis } from '../support/stores/redis-server.js';

// The figures in the documentation come from `npm run bench:shared` on a quiet machine.
const scene = { server: 'sliding', limit: 60, windowMs: 1_500, windows: 3, kills: 2 } as const;
const stops: (() => Promise<void>)[] = [];

for (const reason of [noRedis, noPostgres]) {
  if (reason !== undefined) {
    console.log(`Four processes with one limit are not tested everywhere: ${reason}.`);
  }
}

describe('four processes with one limit, some of them killed', () => {
  afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())));

  it.skipIf(noRedis)('are never rejected with one Redis, and use most of the limit', async () => {
    const redis = await startRedis();
    stops.push(() => redis.stop());
    const result = await race({ ...scene, limiter: 'postreel on Redis', store: redis.url });
    expect(result.refused).toBe(0);
    expect(result.used).toBeGreaterThan(0.5);
    expect(result.used).toBeLessThanOrEqual(1);
  });

  it.skipIf(noPostgres)(
    'are never rejected with one Postgres, and use most of the limit',
    async () => {
      const postgres = await startPostgres();
      stops.push(() => postgres.stop());
      const pool = new Pool({ connectionString: postgres.url });
      await migratePostgres(pool);
      await pool.end();
      const result = await race({ ...scene, limiter: 'postreel on Postgres', store: postgres.url });
      expect(result.refused).toBe(0);
      expect(result.used).toBeGreaterThan(0.5);
      expect(result.used).toBeLessThanOrEqual(1);
    },
  );
});
