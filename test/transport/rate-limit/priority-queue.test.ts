import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Slot } from '../../../src/core/types.js';
import {
  PriorityQueue,
  queueTimeout,
  type Forecast,
} from '../../../src/transport/rate-limit/priority-queue.js';
import { turn } from '../../support/transport/turns.js';

const slot: Slot = { accepted: noop, release: noop, abandon: noop, cancel: noop };
const inTenSeconds = (): Forecast => ({ reason: 'limit', waitMs: 10_000 });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('PriorityQueue', () => {
  it('lets interactive calls go before bulk ones, and repeats before first attempts', async () => {
    const queue = new PriorityQueue(noop);
    const order: string[] = [];
    for (const [id, changes] of Object.entries({
      bulk: { priority: 'bulk' },
      bulkRepeat: { priority: 'bulk', isRepeat: true },
      first: {},
      second: {},
      repeat: { isRepeat: true },
    } as const)) {
      void queue.wait(turn(changes), inTenSeconds).then(() => order.push(id));
    }
    for (let count = 0; count < 5; count++) {
      expect(queue.grant(slot)).toBe(true);
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['repeat', 'first', 'second', 'bulkRepeat', 'bulk']);
    expect(queue.grant(slot)).toBe(false);
  });

  it('counts the calls that would go before', () => {
    const queue = new PriorityQueue(noop);
    void queue.wait(turn({ priority: 'bulk' }), inTenSeconds);
    void queue.wait(turn(), inTenSeconds);
    expect(queue.ahead(turn())).toBe(1);
    expect(queue.ahead(turn({ isRepeat: true }))).toBe(0);
    expect(queue.ahead(turn({ priority: 'bulk' }))).toBe(2);
    expect(queue.ahead(turn({ priority: 'bulk', isRepeat: true }))).toBe(1);
  });

  it.each([new Error('enough'), 'enough', undefined, null])(
    'rejects with the reason of an abort and leaves the queue: %s',
    async (reason) => {
      const onLeave = vi.fn();
      const queue = new PriorityQueue(onLeave);
      const controller = new AbortController();
      const call = queue.wait(turn({ signal: controller.signal }), inTenSeconds);
      controller.abort(reason);
      await expect(call).rejects.toBe(controller.signal.reason);
      expect(queue.size).toBe(0);
      expect(onLeave).toHaveBeenCalledOnce();
    },
  );

  it('does not begin to wait when the signal has aborted before', async () => {
    const queue = new PriorityQueue(noop);
    const signal = AbortSignal.abort('too late');
    await expect(queue.wait(turn({ signal }), inTenSeconds)).rejects.toBe('too late');
    expect(queue.size).toBe(0);
  });

  it('refuses a wait that is too long at once', async () => {
    const queue = new PriorityQueue(noop);
    await expect(queue.wait(turn({ maxWaitMs: 9_999 }), inTenSeconds)).rejects.toMatchObject({
      name: 'RateLimitError',
      code: 'QUEUE_TIMEOUT',
      outcome: 'not-sent',
      retryAfterMs: 10_000,
      message:
        'The rate limit leaves no room in time: about 10 s to wait. Try again later, or allow a longer `deadline`.',
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('refuses a wait that becomes too long, and says how long it is by then', async () => {
    const queue = new PriorityQueue(noop);
    let waitMs = 1_000;
    const call = queue.wait(turn({ maxWaitMs: 5_000 }), () => ({ reason: 'limit', waitMs }));
    const refused = expect(call).rejects.toMatchObject({ retryAfterMs: 60_000 });
    waitMs = 60_000;
    await vi.advanceTimersByTimeAsync(5_000);
    await refused;
    expect(queue.size).toBe(0);
  });

  it('tells a call how long it waits and how many do', () => {
    const onWait = vi.fn();
    void new PriorityQueue(noop).wait(turn({ onWait }), inTenSeconds);
    expect(onWait).toHaveBeenCalledExactlyOnceWith({ reason: 'limit', waitMs: 10_000, queued: 1 });
  });

  it('refuses in a pause those who cannot wait so long, and all of them when nobody should', async () => {
    const queue = new PriorityQueue(noop);
    const hasty = expect(queue.wait(turn({ maxWaitMs: 20_000 }), inTenSeconds)).rejects.toThrow(
      'The service asked to wait, for about 30 s from now.',
    );
    const patient = queue.wait(turn(), inTenSeconds);
    queue.rejectWaiters({ reason: 'service', waitMs: 30_000 }, 120_000);
    await hasty;
    expect(queue.size).toBe(1);
    queue.rejectWaiters({ reason: 'service', waitMs: 120_001 }, 120_000);
    await expect(patient).rejects.toMatchObject({ retryAfterMs: 120_001 });
  });

  it('leaves no timer and no listener behind', async () => {
    const queue = new PriorityQueue(noop);
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const call = queue.wait(turn({ signal, maxWaitMs: 20_000 }), inTenSeconds);
    queue.grant(slot);
    await expect(call).resolves.toBe(slot);
    expect(vi.getTimerCount()).toBe(0);
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
  });
});

function noop(): void {
  // nothing to do
}

it('a wait of months is told as the longest that a timer can wait', () => {
  const { retryAfterMs } = queueTimeout({ reason: 'limit', waitMs: 90 * 86_400_000 }, turn());
  expect(retryAfterMs).toBe(2 ** 31 - 1);
});
