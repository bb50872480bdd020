import type { RateBudgetStore } from 'postreel';
import type { Random } from './random.js';
import type { VirtualTime } from './time.js';

/** How the store of a world behaves. */
export type StoreHabit = 'none' | 'good' | 'slow' | 'hangs' | 'fails' | 'lies';

/** A store of pending slots on virtual time, good or bad; several runs may share it. */
export function modelStore(
  habit: StoreHabit,
  time: VirtualTime,
  random: Random,
): RateBudgetStore | undefined {
  if (habit === 'none') {
    return undefined;
  }
  const leases = new Map<string, number>();
  let names = 0;
  const lease = (count: number, limit: number, leaseMs: number): string[] => {
    for (const [name, until] of leases) {
      if (until <= time.now()) {
        leases.delete(name);
      }
    }
    const free = Math.max(0, Math.min(count, limit - leases.size));
    const taken = Array.from({ length: free }, () => `lease ${++names}`);
    taken.forEach((name) => leases.set(name, time.now() + leaseMs));
    return taken;
  };
  /** Now and then it is as bad as it can be; a liar says that all is taken, or gives too much. */
  const answer = async <T>(honest: () => T, lie: () => NoInfer<T>): Promise<T> => {
    const isBad = random.chance(0.3);
    await time.sleep(habit === 'slow' ? random.next() * 8_000 : random.next() * 20);
    if (habit === 'hangs' && isBad) {
      return new Promise(() => undefined);
    }
    if (habit === 'fails' && isBad) {
      throw new Error('the store is gone');
    }
    return habit === 'lies' && isBad ? lie() : honest();
  };
  const nothing = () => undefined;
  const tooMany = () => Array.from({ length: 30 }, () => `lease ${++names}`);
  return {
    take: () => Promise.resolve({ slots: ['slot'] }),
    release: () => Promise.resolve(),
    cancel: () => Promise.resolve(),
    close: () => Promise.resolve(),
    lease: (_, count, limit, leaseMs) =>
      answer(
        () => lease(count, limit, leaseMs),
        () => (random.chance(0.5) ? [] : tooMany()),
      ),
    hold: (_, held, leaseMs, instead) =>
      answer(() => {
        instead.forEach((name) => leases.delete(name));
        held.forEach((name) => leases.set(name, time.now() + leaseMs));
      }, nothing),
    giveBack: (_, places) => answer(() => places.forEach((name) => leases.delete(name)), nothing),
  };
}
