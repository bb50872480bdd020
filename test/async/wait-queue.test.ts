import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WaitQueue } from '../../src/async/wait-queue.js';
import fc from '../support/property.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a WaitQueue', () => {
  it('serves in order who has not left, whatever happens in between', async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constant('wait' as const) },
      { weight: 2, arbitrary: fc.constant('grant' as const) },
      { weight: 2, arbitrary: fc.nat(30).map((leaver) => ({ leaver })) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 200 }), async (steps) => {
        const queue = new WaitQueue<number>();
        const aborts: AbortController[] = [];
        let expected: number[] = [];
        for (const [id, one] of steps.entries()) {
          if (one === 'wait') {
            const controller = new AbortController();
            controller.signal.addEventListener('abort', () => {
              expected = expected.filter((other) => other !== id);
            });
            aborts.push(controller);
            queue.wait(id, { signal: controller.signal }).catch(() => undefined);
            expected.push(id);
          } else if (one === 'grant') {
            const next = queue.peek();
            expect(next?.data).toBe(expected.shift());
            next?.grant();
          } else {
            aborts[one.leaver]?.abort();
          }
          expect(queue.size).toBe(expected.length);
          expect([...queue].map(({ data }) => data)).toEqual(expected);
        }
        await Promise.resolve();
      }),
    );
  });

  it('serves the lower priority number first', () => {
    const queue = new WaitQueue<string>(2);
    void queue.wait('later', { priority: 1 });
    void queue.wait('sooner', { priority: 0 });
    expect([...queue].map(({ data }) => data)).toEqual(['sooner', 'later']);
    expect(queue.sizeUpTo(0)).toBe(1);
    expect(queue.sizeUpTo(1)).toBe(2);
  });

  it('stays small and in order over thousands of turns', () => {
    const queue = new WaitQueue<number>();
    for (let id = 0; id < 3_000; id++) {
      void queue.wait(id);
    }
    for (let id = 0; id < 3_000; id++) {
      const next = queue.peek();
      expect(next?.data).toBe(id);
      next?.grant();
    }
    expect(queue.size).toBe(0);
    expect(queue.peek()).toBeUndefined();
  });

  it('resolves with what was granted, and a second grant or refusal changes nothing', async () => {
    const onLeave = vi.fn();
    const queue = new WaitQueue<string, number>(1, onLeave);
    const wait = queue.wait('one');
    const waiter = queue.peek();
    waiter?.grant(1);
    waiter?.grant(2);
    await expect(wait).resolves.toBe(1);
    expect(queue.size).toBe(0);
    expect(onLeave).not.toHaveBeenCalled();
  });

  it('ends a wait that takes too long with the error made then, after it has left', async () => {
    const onLeave = vi.fn();
    const queue = new WaitQueue<string>(1, onLeave);
    const timeoutError = () => new Error(`${queue.size} wait`);
    const refused = expect(queue.wait('one', { maxWaitMs: 50, timeoutError })).rejects.toThrow(
      '0 wait',
    );
    await vi.advanceTimersByTimeAsync(50);
    await refused;
    expect(onLeave).toHaveBeenCalledOnce();
  });

  it('does not let anybody join whose signal has aborted', async () => {
    const queue = new WaitQueue<string>();
    await expect(queue.wait('one', { signal: AbortSignal.abort('late') })).rejects.toBe('late');
    expect(queue.size).toBe(0);
  });

  it('leaves no timer and no listener behind', async () => {
    const queue = new WaitQueue<string>();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const wait = queue.wait('one', { signal, maxWaitMs: 1_000 });
    queue.peek()?.grant();
    await wait;
    expect(vi.getTimerCount()).toBe(0);
    expect(added).toHaveBeenCalledOnce();
    expect(removed).toHaveBeenCalledOnce();
  });
});
