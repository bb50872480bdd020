import type { JournalStore } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';

/** When a process dies: at this step, before or after the step takes effect. */
export interface Death {
  readonly step: number;
  readonly isAfter: boolean;
}

/** The steps of the journal that fail, before or after they take effect. */
export interface Outage {
  readonly step: number;
  readonly times: number;
  readonly isAfter: boolean;
}

/**
 * Simulates a process that may die at a request or at a step of its journal. After its death, none
 * of its operations resolves or has an effect.
 */
export function mortalProcess(
  fetch: typeof globalThis.fetch,
  store: JournalStore,
  { death, outage }: { readonly death: Death | null; readonly outage: Outage | null },
) {
  let steps = 0;
  let storeSteps = 0;
  let die: () => void = () => undefined;
  const dead = new Promise<'dead'>((resolve) => {
    die = () => resolve('dead');
  });
  const step = async <T>(run: () => Promise<T>): Promise<T> => {
    steps += 1;
    if (!death || steps < death.step) {
      return run();
    }
    if (steps === death.step && death.isAfter) {
      await run();
    }
    die();
    return new Promise<never>(() => undefined);
  };
  const storeStep = <T>(run: () => Promise<T>) =>
    step(async () => {
      storeSteps += 1;
      const fails = outage && storeSteps >= outage.step && storeSteps < outage.step + outage.times;
      if (fails && !outage.isAfter) {
        throw new Error('the store is down');
      }
      const result = await run();
      if (fails) {
        throw new Error('the store gave no answer');
      }
      return result;
    });
  const journal: JournalStore = {
    swap: (...args) => storeStep(() => store.swap(...args)),
    get: (...args) => storeStep(() => store.get(...args)),
    list: (...args) => storeStep(() => store.list(...args)),
  };
  // This `fetch` has its own clock: no test waits for the calls of a dead process.
  const own: typeof fetch = (...request) => step(() => fetch(...request));
  const another = createFakeMessaging().fetch;
  for (const symbol of Object.getOwnPropertySymbols(another)) {
    Object.defineProperty(own, symbol, { value: Reflect.get(another, symbol) });
  }
  return { fetch: own, journal, dead };
}
