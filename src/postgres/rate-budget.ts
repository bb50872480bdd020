import { randomUUID } from 'node:crypto';
import { isRecord, storedNumber } from '../core/values.js';
import { capacityOf, maxCloseMs, type RateBudgetStore } from '../core/rate-store.js';
import { checkPostgres, rowsOf, type PostgresClient } from './client.js';

/**
 * A rate budget and the pending slots in Postgres, shared by any number of machines. All times are
 * the server's own. The slots of a process that dies come free a window and a few seconds later.
 * When Postgres does not answer, each process keeps to the limit by itself, with a `warning`.
 *
 * @param pool - A pool of `pg`, or anything with `query(text, values)`, which stays yours to close.
 *   Run `migratePostgres(pool)` once before.
 */
export function postgresRateBudget(pool: PostgresClient): RateBudgetStore {
  checkPostgres(pool, 'postgresRateBudget');
  const run = async (text: string, ...values: unknown[]): Promise<void> => {
    await rowsOf(pool, text, values);
  };
  const keep = (group: string, slots: readonly string[], forMs: number) =>
    run('select postreel_keep_slots($1, $2::text[], $3)', group, slots, forMs);
  return {
    async take(group, limits, leaseMs, count = 1) {
      const ids = Array.from({ length: count }, () => randomUUID());
      const text = `select array_length(slots, 1) as taken, wait_ms, is_probe::int
        from postreel_take_slots($1, $2::text[], $3, $4, $5)`;
      const values = [group, ids, capacityOf(limits), limits.windowMs, leaseMs];
      const [row] = await rowsOf(pool, text, values);
      const { taken, wait_ms: waitMs, is_probe: isProbe } = isRecord(row) ? row : {};
      const slots = ids.slice(0, storedNumber(taken ?? 0));
      return slots.length > 0
        ? { slots, isProbe: storedNumber(isProbe) === 1 }
        : { waitMs: storedNumber(waitMs) };
    },
    release: (group, slot, { windowMs }) => keep(group, [slot], windowMs),
    cancel: (group, slot) =>
      run('delete from postreel_slots where project = $1 and id = $2', group, slot),
    renew: keep,
    close: (group, delayMs) =>
      run('select postreel_close($1, $2)', group, Math.min(delayMs, maxCloseMs)),
    reopen: (group) => run('select postreel_close($1, 0)', group),
    async lease(group, count, limit, leaseMs) {
      const names = Array.from({ length: count }, () => randomUUID());
      const text = 'select postreel_lease($1, $2::text[], $3, $4) as name';
      const rows = await rowsOf(pool, text, [group, names, limit, leaseMs]);
      return rows.map((row) => String(isRecord(row) ? row['name'] : row));
    },
    hold: (group, names, leaseMs, instead) =>
      run('select postreel_hold($1, $2::text[], $3::text[], $4)', group, names, instead, leaseMs),
    giveBack: (group, places) =>
      run(
        'delete from postreel_places where project = $1 and name = any ($2::text[])',
        group,
        places,
      ),
  };
}
