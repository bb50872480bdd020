import { describe, expect, it } from 'vitest';
import { createSpacing } from '../../src/polling/spacing.js';
import { settled } from '../support/fake-server.js';

const spacedMs = 100;

describe('checks', () => {
  it('are evenly spaced, in the order in which they were asked for', async () => {
    const spacing = createSpacing();
    const checks: { index: number; at: number }[] = [];
    const check = (index: number) => () => {
      checks.push({ index, at: performance.now() });
      return Promise.resolve(index);
    };
    const results = await Promise.all(
      [0, 1, 2, 3].map((index) => spacing(check(index), undefined)),
    );
    expect(results).toEqual([0, 1, 2, 3]);
    expect(checks.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    const gaps = checks.slice(1).map(({ at }, index) => at - (checks[index]?.at ?? 0));
    for (const gap of gaps) {
      expect(gap).toBeGreaterThan(spacedMs / 2);
    }
    expect((checks[3]?.at ?? 0) - (checks[0]?.at ?? 0)).toBeGreaterThan(3 * spacedMs - 10);
  });

  it('need no pause after a quiet time', async () => {
    const spacing = createSpacing();
    const { tookMs } = await settled(() => spacing(() => Promise.resolve(), undefined));
    expect(tookMs).toBeLessThan(spacedMs);
  });

  it('that fail hold up nobody', async () => {
    const spacing = createSpacing();
    const error = new Error('no');
    const first = spacing(() => Promise.reject(error), undefined);
    await expect(first).rejects.toBe(error);
    await expect(spacing(() => Promise.resolve('next'), undefined)).resolves.toBe('next');
  });

  it('that are aborted in the line leave it at once, and hold up nobody', async () => {
    const spacing = createSpacing();
    const controller = new AbortController();
    let checked = 0;
    const waits = Array.from({ length: 100 }, () =>
      spacing(() => Promise.resolve(++checked), controller.signal),
    );
    controller.abort('enough');
    const ends = await Promise.allSettled(waits);
    expect(ends.every((end) => end.status === 'rejected' && end.reason === 'enough')).toBe(true);
    const { tookMs } = await settled(() => spacing(() => Promise.resolve(), undefined));
    expect(tookMs).toBeLessThan(10 * spacedMs);
    expect(checked).toBe(0);
  });

  it('whose signal has aborted before are not made', async () => {
    const check = () => Promise.resolve('checked');
    await expect(createSpacing()(check, AbortSignal.abort('enough'))).rejects.toBe('enough');
  });
});
