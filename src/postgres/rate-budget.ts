import { randomUUID } from 'node:crypto';
import { capacityOf, maxCloseMs, type RateBudgetStore } from '../core/limit/rate-store.js';
import { checkPostgres, queryRows, type PostgresClient } from './client.js';

/**
 * A rate budget and the pending slots in Postgres, shared by any number of machines. All times come from the
 * server. The slots of a process that dies become free a window and ten seconds later. If Postgres does not
 * respond, each process keeps to the limit by itself, with a `warning`.
 *
 * @param pool - A pool of `pg`, or anything with `query(text, values)`; you close it yourself. Run
 *   `migratePostgres(pool)` once before.
 */
export function postgresRateBudget(pool: PostgresClient): RateBudgetStore {
  checkPostgres(pool, 'postgresRateBudget');
  const slots = leasesIn(pool, 'slot');
  const places = leasesIn(pool, 'place');
  return {
    async take(group, limits, leaseMs, count = 1) {
      const terms = [capacityOf(limits), leaseMs, limits.windowMs];
      const { names, waitMs } = await slots.take(group, count, terms);
      return names.length > 0 ? { slots: names } : { waitMs };
    },
    release: (group, slot, { windowMs }) => slots.hold(group, [slot], windowMs, []),
    cancel: (group, slot) => slots.hold(group, [], 0, [slot]),
    async close(group, delayMs) {
      const text = 'select postreel_close($1, $2)';
      await queryRows(pool, text, [group, Math.min(delayMs, maxCloseMs)]);
    },
    async lease(group, count, limit, leaseMs) {
      const { names } = await places.take(group, count, [limit, leaseMs, 0]);
      return names;
    },
    hold: (group, names, leaseMs, instead) => places.hold(group, names, leaseMs, instead),
    giveBack: (group, names) => places.hold(group, [], 0, names),
  };
}

/** The slots of the rate limit, or the places of unfinished jobs. */
function leasesIn(pool: PostgresClient, kind: 'slot' | 'place') {
  return {
    /** `terms`: the total number, the duration of a lease, and the window. */
    async take(group: string, count: number, terms: readonly number[]) {
      const names = Array.from({ length: count }, () => randomUUID());
      const text = 'select taken, wait_ms from postreel_take($1, $2, $3::text[], $4, $5, $6)';
      const [row] = await queryRows(pool, text, [group, kind, names, ...terms]);
      const { taken, wait_ms: waitMs } = row as Record<string, unknown>; // as: the selected columns
      // A driver may return numbers as strings.
      return { names: names.slice(0, Number(taken)), waitMs: Number(waitMs) };
    },
    async hold(
      group: string,
      names: readonly string[],
      forMs: number,
      instead: readonly string[],
    ): Promise<void> {
      const text = 'select postreel_hold($1, $2, $3::text[], $4::text[], $5)';
      await queryRows(pool, text, [group, kind, names, instead, forMs]);
    },
  };
}
