import { Pool } from 'pg';
import { withSchedulerLock } from 'postreel/postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  noPostgres,
  startPostgres,
  type PostgresServer,
} from '../support/stores/postgres-server.js';

if (noPostgres !== undefined) {
  console.log(`withSchedulerLock is not tested, it needs several connections: ${noPostgres}.`);
}

describe.skipIf(noPostgres)('withSchedulerLock', () => {
  let server: PostgresServer;
  let pools: Pool[];
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    pools = [];
  });
  afterEach(() => Promise.all(pools.map((pool) => pool.end())));

  const host = () => {
    const pool = new Pool({ connectionString: server.url });
    pool.on('error', () => undefined); // connections are cut here
    pools.push(pool);
    return pool;
  };
  /** Holds the lock until it is told to stop; resolves once it has it. */
  const hold = async () => {
    const started = withResolvers<undefined>();
    const end = withResolvers<undefined>();
    const ended = withSchedulerLock(host(), 'videos', () => {
      started.resolve(undefined);
      return end.promise;
    });
    await started.promise;
    return () => {
      end.resolve(undefined);
      return ended;
    };
  };
  const inLine = async (count: number) => {
    const text = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
    const pool = host();
    await vi.waitFor(async () => expect((await pool.query(text)).rows).toHaveLength(count), 5_000);
  };
  const cut = () =>
    host().query(
      `select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and granted and pid <> pg_backend_pid()`,
    );

  it('lets one host work at a time, and answers with its result', async () => {
    let working = 0;
    let most = 0;
    const work = async () => {
      working++;
      most = Math.max(most, working);
      await new Promise((resolve) => setTimeout(resolve, 20));
      working--;
      return 'done';
    };
    const runs = [1, 2, 3].map(() => withSchedulerLock(host(), 'videos', work));
    expect(await Promise.all(runs)).toEqual(['done', 'done', 'done']);
    expect(most).toBe(1);
  });

  it('hands over at once when the connection of the first is gone, and tells the first', async () => {
    const told = withResolvers<unknown>();
    const started = withResolvers<undefined>();
    const first = withSchedulerLock(host(), 'videos', async (signal) => {
      signal.addEventListener('abort', () => told.resolve(signal.reason));
      started.resolve(undefined);
      await told.promise;
    });
    await started.promise;
    const second = withSchedulerLock(host(), 'videos', () => Promise.resolve(performance.now()));
    await inLine(1);
    const cutAt = performance.now();
    await cut();
    expect((await second) - cutAt).toBeLessThan(10_000); // on a busy machine
    expect(String(await told.promise)).toContain('connection that held the scheduler lock is gone');
    await first;
  });

  it('waits on when its own connection breaks while it waits', async () => {
    const end = await hold();
    const second = withSchedulerLock(host(), 'videos', () => Promise.resolve('second'));
    await inLine(1);
    await host().query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted`,
    );
    await end();
    expect(await second).toBe('second');
  });

  it('keeps different names apart', async () => {
    const inner = () => withSchedulerLock(host(), 'speech', () => Promise.resolve('both'));
    expect(await withSchedulerLock(host(), 'videos', inner)).toBe('both');
  });

  it('leaves the line when its caller gives up, and blocks nobody', async () => {
    const end = await hold();
    const controller = new AbortController();
    const work = () => Promise.resolve('never');
    const second = withSchedulerLock(host(), 'videos', work, { signal: controller.signal });
    const third = withSchedulerLock(host(), 'videos', () => Promise.resolve('third'));
    await inLine(2);
    controller.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await end();
    expect(await third).toBe('third');
  });

  it('passes on what the work throws, and lets the next one in', async () => {
    const pool = host();
    const fail = () => Promise.reject(new Error('broken'));
    await expect(withSchedulerLock(pool, 'videos', fail)).rejects.toThrow('broken');
    expect(await withSchedulerLock(host(), 'videos', () => Promise.resolve(1))).toBe(1);
  });
});

// Node 20 has no Promise.withResolvers().
function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolver) => {
    resolve = resolver;
  });
  return { promise, resolve };
}
