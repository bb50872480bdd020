import { Pool } from 'pg';
import { migratePostgres } from '../../src/postgres/index.js';
import { startPostgres } from '../../test/support/stores/postgres-server.js';
import { startRedis } from '../../test/support/stores/redis-server.js';
import { race, type Race, type Task } from './race.js';

// `npm run bench:shared` takes nine minutes for the short window; `LONG=1` adds the window of 60 s.
const short = { limit: 200, windowMs: 10_000, windows: 3, kills: 4 };
const long = { limit: 1_000, windowMs: 60_000, windows: 2, kills: 6 };
type Scene = typeof short;
const scenes = process.env['LONG'] ? [short, long] : [short];

console.log('Four processes share one limit; some are killed with SIGKILL and replaced\n');
for (const scene of scenes) {
  const rows: Record<string, Record<string, string>> = {};
  for (const limiter of limiters()) {
    rows[limiter] = await both({ ...scene, limiter });
  }
  if (!process.env['ONLY']) {
    Object.assign(rows, await oddRows(scene));
  }
  const { limit, windowMs, windows, kills } = scene;
  console.log(`${limit} in ${windowMs / 1_000} s, ${windows} windows, ${kills} kills`);
  console.table(rows);
}

function limiters(): Task['limiter'][] {
  const all = [
    'postreel on Redis',
    'postreel on Postgres',
    'bottleneck',
    'rate-limiter-flexible',
  ] as const;
  const only = process.env['ONLY'];
  return all.filter((limiter) => only === undefined || limiter.includes(only));
}

/** Postgres with the higher isolation levels, and processes of which one has a wrong clock. */
async function oddRows(scene: Scene): Promise<Record<string, Record<string, string>>> {
  const rows: Record<string, Record<string, string>> = {};
  for (const isolation of ['repeatable read', 'serializable']) {
    rows[`Postgres, ${isolation}`] = await both({
      ...scene,
      limiter: 'postreel on Postgres',
      isolation,
    });
  }
  for (const hours of [-1, 1]) {
    rows[`Redis, one clock ${hours} h off`] = await both({
      ...scene,
      limiter: 'postreel on Redis',
      firstSkewMs: hours * 3_600_000,
    });
  }
  return rows;
}

async function both(scene: Omit<Race, 'store' | 'server'>): Promise<Record<string, string>> {
  return {
    sliding: await cell({ ...scene, server: 'sliding' }),
    fixed: await cell({ ...scene, server: 'fixed' }),
  };
}

async function cell(scene: Omit<Race, 'store'>): Promise<string> {
  const isPostgres = scene.limiter.includes('Postgres');
  const store = await (isPostgres ? startPostgres() : startRedis());
  try {
    if (isPostgres) {
      const pool = new Pool({ connectionString: store.url });
      await migratePostgres(pool);
      await pool.end();
    }
    const { refused, used } = await race({ ...scene, store: store.url });
    return `${refused} x 429, ${(used * 100).toFixed(1)} %`;
  } finally {
    await store.stop();
  }
}
