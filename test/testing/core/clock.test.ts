import { afterEach, describe, expect, it, vi } from 'vitest';
import { createClock } from 'postreel/testing';

afterEach(() => vi.useRealTimers());

describe('a virtual clock', () => {
  it('stands still until it is advanced', async () => {
    const clock = createClock({ start: 1_000 });
    expect(clock.now()).toBe(1_000);
    await clock.advance('3s');
    expect(clock.now()).toBe(4_000);
    expect(clock.date()).toEqual(new Date('1970-01-01T00:00:04.000Z'));
  });

  it('starts at the wall-clock time', () => {
    expect(Math.abs(createClock().now() - Date.now())).toBeLessThan(1_000);
  });

  it('runs tasks in the order of their time, at their time', async () => {
    const clock = createClock({ start: 0 });
    const seen: [string, number][] = [];
    const note = (name: string) => () => void seen.push([name, clock.now()]);
    clock.after(2_000, note('later'));
    clock.after(1_000, note('first'));
    clock.after(1_000, note('second'));
    clock.after(9_000, note('never'));
    await clock.advance('5s');
    expect(seen).toEqual([
      ['first', 1_000],
      ['second', 1_000],
      ['later', 2_000],
    ]);
  });

  it('runs what a task plans within the same advance', async () => {
    const clock = createClock({ start: 0 });
    const ticks: number[] = [];
    const tick = () => {
      ticks.push(clock.now());
      clock.after(300_000, tick);
    };
    clock.after(300_000, tick);
    await clock.advance('20m');
    expect(ticks).toEqual([300_000, 600_000, 900_000, 1_200_000]);
  });

  it('waits for each task before it goes on', async () => {
    const clock = createClock({ start: 0 });
    const seen: string[] = [];
    clock.after(1, async () => {
      await Promise.resolve();
      seen.push('slow');
    });
    clock.after(2, () => void seen.push('quick'));
    await clock.advance(2);
    expect(seen).toEqual(['slow', 'quick']);
  });

  it('does not run a task that was taken back', async () => {
    const clock = createClock();
    const task = vi.fn();
    clock.after(10, task)();
    await clock.advance('1s');
    expect(task).not.toHaveBeenCalled();
  });
});

describe('a clock that follows another', () => {
  it('runs overdue tasks when asked, each at its own time', () => {
    let time = 0;
    const clock = createClock({ now: () => time });
    const ticks: number[] = [];
    const tick = () => {
      ticks.push(clock.now());
      clock.after(100, tick);
    };
    clock.after(100, tick);
    time = 350;
    clock.runDue();
    expect(ticks).toEqual([100, 200, 300]);
    expect(clock.now()).toBe(350);
  });

  it('goes with the fake timers of a test runner', async () => {
    vi.useFakeTimers({ now: 5_000 });
    const clock = createClock({ now: () => Date.now() });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(clock.now()).toBe(65_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('can still be moved ahead', async () => {
    const clock = createClock({ now: () => 7 });
    const task = vi.fn();
    clock.after(1_000, task);
    await clock.advance('1s');
    expect(clock.now()).toBe(1_007);
    expect(task).toHaveBeenCalledOnce();
  });
});

describe('a real clock', () => {
  it('runs tasks by itself', async () => {
    vi.useFakeTimers();
    const clock = createClock({ mode: 'real' });
    const task = vi.fn();
    clock.after(1_000, task);
    await vi.advanceTimersByTimeAsync(999);
    expect(task).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(task).toHaveBeenCalledOnce();
  });

  it('runs faster by its speed', async () => {
    vi.useFakeTimers();
    const clock = createClock({ mode: 'real', speed: 60, start: 0 });
    const task = vi.fn();
    clock.after(60_000, task);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(clock.now()).toBe(60_000);
    expect(task).toHaveBeenCalledOnce();
  });
});
