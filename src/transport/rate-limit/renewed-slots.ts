import { monotonicMs } from '../../async/timers.js';
import type { RateBudgetStore } from '../../contract/rate-budget-store.js';
import { stragglingMs } from './budget.js';

/** Keeps slots that are taken for another so long. */
export type RenewSlots = (
  group: string,
  slots: readonly string[],
  leaseMs: number,
) => Promise<void>;

interface OpenSlot {
  readonly group: string;
  readonly leaseMs: number;
  /** When its lease was last begun. */
  at: number;
}

const renewEveryMs = 1_000;
// A request that left before its process died reaches the service within this time, or never.
const graceMs = stragglingMs + 2 * renewEveryMs;

/**
 * A store whose slots have short leases that are renewed while their requests are under way: the
 * slots of a process that dies come free a window later, not minutes. Most requests are answered
 * before their slot would be renewed.
 */
export function withRenewedSlots(store: RateBudgetStore, renew: RenewSlots): RateBudgetStore {
  const open = new Map<string, OpenSlot>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const beat = () => {
    timer = open.size > 0 ? setTimeout(onTime, renewEveryMs) : undefined;
    timer?.unref(); // both stores are Node's
  };
  const onTime = () => {
    for (const [group, { slots, leaseMs }] of dueSlots(open)) {
      renew(group, slots, leaseMs).catch(() => undefined); // in a second it is tried again
    }
    beat();
  };
  return {
    ...store,
    async take(group, limits, longestMs) {
      const leaseMs = Math.min(longestMs, limits.windowMs + graceMs);
      const answer = await store.take(group, limits, leaseMs);
      if ('slot' in answer) {
        open.set(answer.slot, { group, leaseMs, at: monotonicMs() });
        if (timer === undefined) {
          beat();
        }
      }
      return answer;
    },
    release(group, slot, limits) {
      open.delete(slot);
      return store.release(group, slot, limits);
    },
    cancel(group, slot) {
      open.delete(slot);
      return store.cancel(group, slot);
    },
  };
}

/** The slots to renew now, by their projects. */
function dueSlots(open: ReadonlyMap<string, OpenSlot>) {
  const now = monotonicMs();
  const due = new Map<string, { slots: string[]; leaseMs: number }>();
  for (const [slot, state] of open) {
    if (now - state.at >= renewEveryMs) {
      const slots = due.get(state.group)?.slots ?? [];
      slots.push(slot);
      state.at = now;
      due.set(state.group, { slots, leaseMs: state.leaseMs });
    }
  }
  return due;
}
