import { describe, expect, it } from 'vitest';
import { AckWindow } from '../../../src/transport/rate-limit/ack-window.js';

describe('AckWindow', () => {
  it('counts what is under way and what has ended less than a window ago', () => {
    const window = new AckWindow();
    window.inFlight = 2;
    window.hold(100);
    window.hold(200);
    expect(window.used(99)).toBe(4);
    expect(window.used(100)).toBe(3);
    expect(window.used(200)).toBe(2);
  });

  it('says when the next slots come free', () => {
    const window = new AckWindow();
    for (const until of [100, 200, 300]) {
      window.hold(until);
    }
    window.used(150);
    expect(window.freeAt(0)).toBe(200);
    expect(window.freeAt(1)).toBe(300);
    expect(window.freeAt(2)).toBeUndefined();
  });

  it('keeps its order when one slot is held longer than those after it', () => {
    const window = new AckWindow();
    for (const until of [100, 2_300, 200, 300]) {
      window.hold(until);
    }
    expect(window.used(0)).toBe(4);
    expect([0, 1, 2, 3].map((position) => window.freeAt(position))).toEqual([100, 200, 300, 2_300]);
    expect(window.used(300)).toBe(1);
  });

  it('forgets what has expired', () => {
    const window = new AckWindow();
    for (let until = 1; until <= 5_000; until++) {
      window.hold(until);
    }
    expect(window.used(4_999)).toBe(1);
    expect(window.freeAt(0)).toBe(5_000);
    window.hold(6_000);
    expect(window.used(5_000)).toBe(1);
  });
});
