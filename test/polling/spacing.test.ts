import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSpacing } from '../../src/core/wait.js';
import { settledInTime } from '../support/settled.js';

const spacedMs = 100;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('checks', () => {
  it('are evenly spaced, in the order in which they were asked for', async () => {
    const spacing = createSpacing();
    const checks: { index: number; at: number }[] = [];
    const check = (index: number) => () => {
      checks.push({ index, at: performance.now() });
      return Promise.resolve(index);
    };
    const { value } = await settledInTime(() =>
      Promise.all([0, 1, 2, 3].map((index) => spacing(check(index), undefined))),
    );
    expect(value).toEqual([0, 1, 2, 3]);
    expect(checks.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    const gaps = checks.slice(1).map(({ at }, index) => at - (checks[index]?.at ?? 0));
    expect(gaps).toEqual([spacedMs, spacedMs, spacedMs]);
  });

  it('need no pause after a quiet time', async () => {
    const spacing = createSpacing();
    const { tookMs } = await settledInTime(() => spacing(() => Promise.resolve(), undefined));
    expect(tookMs).toBe(0);
  });

  it('that fail hold up nobody', async () => {
    const spacing = createSpacing();
    const error = new Error('no');
    const first = spacing(() => Promise.reject(error), undefined);
    const next = spacing(() => Promise.resolve('next'), undefined);
    expect(await settledInTime(() => first)).toMatchObject({ error });
    expect(await settledInTime(() => next)).toMatchObject({ value: 'next' });
  });

  it('that are aborted in the line leave it at once, are not made, and keep their turns', async () => {
    const spacing = createSpacing();
    const controller = new AbortController();
    let checked = 0;
    const waits = Array.from({ length: 10 }, () =>
      spacing(() => Promise.resolve(++checked), controller.signal),
    );
    controller.abort('enough');
    const ends = await Promise.allSettled(waits);
    expect(ends.every((end) => end.status === 'rejected' && end.reason === 'enough')).toBe(true);
    const { tookMs } = await settledInTime(() => spacing(() => Promise.resolve(), undefined));
    expect(tookMs).toBe(10 * spacedMs);
    expect(checked).toBe(0);
  });

  it('whose signal has aborted before are not made', async () => {
    const check = () => Promise.resolve('checked');
    await expect(createSpacing()(check, AbortSignal.abort('enough'))).rejects.toBe('enough');
  });
});
