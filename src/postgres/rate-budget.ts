import { randomUUID } from 'node:crypto';
import { capacityOf, maxCloseMs, type RateBudgetStore } from '../contract/rate-budget-store.js';
import { withRenewedSlots } from '../transport/rate-limit/renewed-slots.js';
import { checkPostgres, rowOf, type PostgresClient } from './client.js';

/**
 * A rate budget and the pending slots in Postgres, shared by any number of machines. All times are
 * the server's own. The slots of a process that dies come free a window and a few seconds later.
 * When Postgres does not answer, each process keeps to the limit by itself.
 *
 * @param pool - A pool of `pg`, or anything with `query(text, values)`, which stays yours to close.
 *   Run `migratePostgres(pool)` once before.
 */
export function postgresRateBudget(pool: PostgresClient): RateBudgetStore {
  checkPostgres(pool, 'postgresRateBudget');
  const call = (text: string, ...values: unknown[]) => pool.query(`select ${text}`, values);
  const store: RateBudgetStore = {
    async take(group, limits, leaseMs) {
      const slot = randomUUID();
      const text = 'select postreel_take($1, $2, $3, $4, $5) as wait';
      const values = [group, slot, capacityOf(limits), limits.windowMs, leaseMs];
      const { wait } = await rowOf<{ wait: number }>(pool, text, values);
      return wait === 0 ? { slot } : { waitMs: wait };
    },
    async release(group, slot, { windowMs }) {
      await call('postreel_keep_slot($1, $2, $3)', group, slot, windowMs);
    },
    async cancel(group, slot) {
      const text = 'delete from postreel_slots where project = $1 and id = $2';
      await pool.query(text, [group, slot]);
    },
    async close(group, delayMs) {
      await call('postreel_close($1, $2)', group, Math.min(delayMs, maxCloseMs));
    },
    async lease(group, count, limit, leaseMs) {
      const names = Array.from({ length: count }, () => randomUUID());
      const text = 'select postreel_lease($1, $2::text[], $3, $4) as name';
      const { rows } = await pool.query(text, [group, names, limit, leaseMs]);
      return rows.map((row) => (row as { name: string }).name); // as the query names it
    },
    async hold(group, names, leaseMs, instead) {
      const text = 'postreel_hold($1, $2::text[], $3::text[], $4)';
      await call(text, group, names, instead, leaseMs);
    },
    async giveBack(group, places) {
      const text = 'delete from postreel_places where project = $1 and name = any ($2::text[])';
      await pool.query(text, [group, places]);
    },
  };
  return withRenewedSlots(store, async (group, slots, leaseMs) => {
    await call(
      'postreel_keep_slot($1, slot, $3) from unnest($2::text[]) slot',
      group,
      slots,
      leaseMs,
    );
  });
}
