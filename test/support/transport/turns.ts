import type { Budget, Slot, Turn } from '../../../src/core/types.js';

/** A turn with nothing special about it, but for some changes. */
export function turn(changes: Partial<Turn> = {}): Turn {
  return {
    method: 'GET',
    path: '/contacts',
    priority: 'interactive',
    signal: undefined,
    maxWaitMs: Number.POSITIVE_INFINITY,
    isRepeat: false,
    onWait: () => undefined,
    onWarning: () => undefined,
    ...changes,
  };
}

/** A slot that is there without a wait. */
export function takeNow(budget: Budget): Slot {
  const slot = budget.acquire(turn());
  if (slot instanceof Promise) {
    throw new Error('It has to wait.');
  }
  return slot;
}

/** A call that may have to wait, and whether its turn has come. */
export function started(budget: Budget, changes: Partial<Turn> = {}) {
  const call = { hasStarted: false, slot: undefined as Slot | undefined };
  void Promise.resolve(budget.acquire(turn(changes))).then((slot) => {
    Object.assign(call, { hasStarted: true, slot });
  });
  return call;
}
