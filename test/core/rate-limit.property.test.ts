import { MessagingClient, type RateBudgetStore } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { freshKey } from '../support/core/limited.js';
import fc, { runs } from '../support/property.js';
import { memoryStore } from '../support/transport/memory-store.js';

const windowMs = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** One call: when it is made, how long its requests and responses take, and how it ends. */
interface Plan {
  readonly madeAt: number;
  readonly thereMs: number;
  readonly backMs: number;
  readonly status: number;
  readonly abortedAfterMs: number | undefined;
  readonly priority: 'interactive' | 'bulk';
  /** Which process makes it. */
  readonly process: number;
}

const plan: fc.Arbitrary<Plan> = fc.record({
  madeAt: fc.nat(3_000),
  thereMs: fc.nat(600),
  backMs: fc.nat(600),
  status: fc.constantFrom(200, 200, 200, 503),
  abortedAfterMs: fc.option(fc.nat(1_500), { nil: undefined, freq: 4 }),
  priority: fc.constantFrom('interactive', 'bulk'),
  process: fc.nat(2),
});

/** The most requests that the service saw in any of its windows: those begin with a request. */
function mostInAWindow(arrivals: readonly number[]): number {
  const counts = arrivals.map(
    (begin) => arrivals.filter((at) => at >= begin && at < begin + windowMs).length,
  );
  return Math.max(0, ...counts);
}

/** Makes the calls on clients that share nothing but the store, and tells when the service saw a request. */
async function arrivalsOf(
  plans: readonly Plan[],
  limit: number,
  store?: RateBudgetStore,
): Promise<number[]> {
  const arrivals: number[] = [];
  const group = freshKey();
  const clients = [0, 1, 2].map(
    (process) =>
      new MessagingClient({
        apiKey: freshKey(),
        baseUrl: 'https://messaging.test',
        rateLimit: { limit, windowMs, store, group: store ? `${group} ${process}` : group },
        validation: { requests: 'off', responses: 'off' },
        fetch: (input, init) => {
          const { url } = input instanceof Request ? input : { url: String(input) };
          const { thereMs, backMs, status } =
            plans[Number(new URL(url).pathname.split('/').at(-1))]!;
          return new Promise((resolve, reject) => {
            init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
            setTimeout(() => arrivals.push(performance.now()), thereMs); // whoever aborts
            setTimeout(() => resolve(Response.json({}, { status })), thereMs + backMs);
          });
        },
      }),
  );
  let ended = 0;
  plans.forEach(({ madeAt, abortedAfterMs, priority, process }, id) => {
    const controller = new AbortController();
    setTimeout(() => {
      const call = clients[process]!.contacts.get(`${id}`, { priority, signal: controller.signal });
      void call.safe().finally(() => ended++);
      if (abortedAfterMs !== undefined) {
        setTimeout(() => controller.abort(), abortedAfterMs);
      }
    }, madeAt);
  });
  while (ended < plans.length) {
    await vi.advanceTimersByTimeAsync(10_000);
  }
  await vi.advanceTimersByTimeAsync(2_000); // what was aborted arrives later
  return arrivals;
}

describe('no window of the service, sliding or fixed, gets more requests than the limit', () => {
  const plans = fc.array(plan, { minLength: 10, maxLength: 40 });
  const limits = fc.integer({ min: 1, max: 4 });

  it('from the clients of one process, for any delays of the network', async () => {
    await fc.assert(
      fc.asyncProperty(limits, plans, async (limit, all) => {
        const arrivals = await arrivalsOf(all, limit);
        expect(mostInAWindow(arrivals)).toBeLessThanOrEqual(limit);
      }),
      { numRuns: runs(40) },
    );
  });

  it('from several processes that share a store, for any delays of the store', async () => {
    await fc.assert(
      fc.asyncProperty(limits, plans, fc.nat(300), async (limit, all, lagMs) => {
        const arrivals = await arrivalsOf(all, limit, distant(memoryStore().store, lagMs));
        expect(mostInAWindow(arrivals)).toBeLessThanOrEqual(limit);
      }),
      { numRuns: runs(40) },
    );
  });
});

/** The same store, but each request and each response takes up to `maxMs`. */
function distant(store: Required<RateBudgetStore>, maxMs: number): RateBudgetStore {
  let asked = 0;
  const travel = () => {
    const delayMs = (++asked * 7_919) % (maxMs + 1);
    return new Promise<void>((resolve) => setTimeout(resolve, delayMs));
  };
  return {
    take: async (...given) => {
      await travel();
      const answer = await store.take(...given);
      await travel();
      return answer;
    },
    release: (...given) => travel().then(() => store.release(...given)),
    cancel: (...given) => travel().then(() => store.cancel(...given)),
    close: (...given) => travel().then(() => store.close(...given)),
  };
}
