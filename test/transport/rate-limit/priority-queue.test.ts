import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  Lanes,
  type Forecast,
  type Slot,
  type Turn,
} from '../../../src/transport/rate-limit/priority-queue.js';
import { WaitingLine } from '../../../src/async/wait-queue.js';
import { turn } from '../../support/transport/turns.js';

const slot: Slot = { accepted: noop, release: noop, abandon: noop, cancel: noop };
const inTenSeconds = (): Forecast => ({ reason: 'limit', waitMs: 10_000 });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('Lanes', () => {
  it('lets interactive calls go before bulk ones, and repeats before first attempts', () => {
    const lanes = new Lanes(noop);
    const ids = new Map<Turn, string>();
    for (const [id, changes] of Object.entries({
      bulk: { priority: 'bulk' },
      bulkRepeat: { priority: 'bulk', isRepeat: true },
      first: {},
      second: {},
      repeat: { isRepeat: true },
    } as const)) {
      const waiting = turn(changes);
      ids.set(waiting, id);
      void lanes.wait(waiting, inTenSeconds);
    }
    const order = Array.from({ length: 5 }, () => ids.get(lanes.next()!.turn));
    expect(order).toEqual(['repeat', 'first', 'second', 'bulkRepeat', 'bulk']);
    expect(lanes.next()).toBeUndefined();
  });

  it('counts the calls that would go before', () => {
    const lanes = new Lanes(noop);
    void lanes.wait(turn({ priority: 'bulk' }), inTenSeconds);
    void lanes.wait(turn(), inTenSeconds);
    expect(lanes.ahead(turn())).toBe(1);
    expect(lanes.ahead(turn({ isRepeat: true }))).toBe(0);
    expect(lanes.ahead(turn({ priority: 'bulk' }))).toBe(2);
    expect(lanes.ahead(turn({ priority: 'bulk', isRepeat: true }))).toBe(1);
  });

  it.each([new Error('enough'), 'enough', undefined, null])(
    'rejects with the reason of an abort and leaves the line: %s',
    async (reason) => {
      const onLeave = vi.fn();
      const lanes = new Lanes(onLeave);
      const controller = new AbortController();
      const call = lanes.wait(turn({ signal: controller.signal }), inTenSeconds);
      controller.abort(reason);
      await expect(call).rejects.toBe(controller.signal.reason);
      expect(lanes.size).toBe(0);
      expect(onLeave).toHaveBeenCalledOnce();
    },
  );

  it('does not begin to wait when the signal has aborted before', async () => {
    const lanes = new Lanes(noop);
    const signal = AbortSignal.abort('too late');
    await expect(lanes.wait(turn({ signal }), inTenSeconds)).rejects.toBe('too late');
    expect(lanes.size).toBe(0);
  });

  it('refuses a wait that is too long at once', async () => {
    const lanes = new Lanes(noop);
    await expect(lanes.wait(turn({ maxWaitMs: 9_999 }), inTenSeconds)).rejects.toMatchObject({
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
    const lanes = new Lanes(noop);
    let waitMs = 1_000;
    const call = lanes.wait(turn({ maxWaitMs: 5_000 }), () => ({ reason: 'limit', waitMs }));
    const refused = expect(call).rejects.toMatchObject({ retryAfterMs: 60_000 });
    waitMs = 60_000;
    await vi.advanceTimersByTimeAsync(5_000);
    await refused;
    expect(lanes.size).toBe(0);
  });

  it('tells a call how long it waits and how many do', () => {
    const onWait = vi.fn();
    void new Lanes(noop).wait(turn({ onWait }), inTenSeconds);
    expect(onWait).toHaveBeenCalledExactlyOnceWith({ reason: 'limit', waitMs: 10_000, queued: 1 });
  });

  it('refuses in a pause those who cannot wait so long, and all of them when nobody should', async () => {
    const lanes = new Lanes(noop);
    const hasty = expect(lanes.wait(turn({ maxWaitMs: 20_000 }), inTenSeconds)).rejects.toThrow(
      'The service asked everybody to wait, for about 30 s from now.',
    );
    const patient = lanes.wait(turn(), inTenSeconds);
    lanes.refuse({ reason: 'service', waitMs: 30_000 }, 120_000);
    await hasty;
    expect(lanes.size).toBe(1);
    lanes.refuse({ reason: 'service', waitMs: 120_001 }, 120_000);
    await expect(patient).rejects.toMatchObject({ retryAfterMs: 120_001 });
  });

  it('leaves no timer and no listener behind', async () => {
    const lanes = new Lanes(noop);
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const call = lanes.wait(turn({ signal, maxWaitMs: 20_000 }), inTenSeconds);
    lanes.next()?.start(slot);
    await expect(call).resolves.toBe(slot);
    expect(vi.getTimerCount()).toBe(0);
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
  });
});

describe('WaitingLine', () => {
  it('hands out in order what has not left, whatever happens in between', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constant('join' as const) },
      { weight: 2, arbitrary: fc.constant('next' as const) },
      { weight: 2, arbitrary: fc.nat(30).map((leaver) => ({ leaver })) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const line = new WaitingLine<number>();
        let expected: number[] = [];
        const leavers: (() => void)[] = [];
        for (const [id, one] of steps.entries()) {
          if (one === 'join') {
            const leave = line.join(id);
            expected.push(id);
            leavers.push(() => {
              leave();
              expected = expected.filter((other) => other !== id);
            });
          } else if (one === 'next') {
            expect(line.next()).toBe(expected.shift());
          } else {
            leavers[one.leaver]?.();
          }
          expect(line.size).toBe(expected.length);
          expect([...line]).toEqual(expected);
        }
      }),
    );
  });

  it('forgets those who went', () => {
    const line = new WaitingLine<number>();
    for (let id = 0; id < 3_000; id++) {
      line.join(id);
    }
    const leaveLast = line.join(3_000);
    for (let id = 0; id < 3_000; id++) {
      expect(line.next()).toBe(id);
    }
    leaveLast();
    leaveLast();
    expect(line.size).toBe(0);
    expect(line.next()).toBeUndefined();
  });
});

function noop(): void {
  // nothing to do
}
