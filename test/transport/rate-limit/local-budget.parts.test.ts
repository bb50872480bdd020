import { describe, expect, it } from 'vitest';
import { AckWindow } from '../../../src/transport/rate-limit/ack-window.js';
import { capacityOf } from '../../../src/transport/rate-limit/capacity.js';
import { Caution } from '../../../src/transport/rate-limit/congestion.js';

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

describe('Caution', () => {
  it('does not bound anything as long as nobody refuses', () => {
    expect(new Caution().cap(0, false)).toBe(Number.POSITIVE_INFINITY);
  });

  it('bounds what is under way when others use the limit too', () => {
    expect(new Caution().cap(0, true)).toBe(24);
  });

  it('lets one go first after a refusal, then twice as many with each answer up to a half', () => {
    const caution = new Caution();
    caution.refused(0, 60_000);
    const caps = [1, 2, 3, 4, 5].map((sentAt) => {
      const cap = caution.cap(sentAt, false);
      caution.accepted(sentAt);
      return cap;
    });
    expect(caps).toEqual([1, 2, 4, 8, 16]);
    for (let sentAt = 6; sentAt < 400; sentAt++) {
      caution.accepted(sentAt);
    }
    expect(caution.cap(400, false)).toBe(24);
  });

  it('is more careful when it was refused again', () => {
    const caution = new Caution();
    caution.refused(0, 60_000);
    for (const sentAt of [1, 2, 3]) {
      caution.accepted(sentAt);
    }
    expect(caution.cap(4, false)).toBe(8);
    caution.refused(4, 60_000);
    caution.refused(5, 60_000);
    for (const sentAt of [6, 7]) {
      caution.accepted(sentAt);
    }
    expect(caution.cap(8, false)).toBe(4);
    caution.accepted(8);
    expect(caution.cap(9, false)).toBe(4.25);
  });

  it('does not listen to answers of requests that left before the refusal', () => {
    const caution = new Caution();
    caution.refused(10, 60_000);
    for (const sentAt of [1, 5, 10]) {
      caution.accepted(sentAt);
    }
    expect(caution.cap(11, false)).toBe(1);
  });

  it('ends when a window has passed in peace', () => {
    const caution = new Caution();
    caution.refused(0, 60_000);
    caution.refused(10, 30_000);
    expect(caution.cap(59_999, false)).toBe(1);
    expect(caution.cap(60_000, false)).toBe(Number.POSITIVE_INFINITY);
    expect(caution.cap(60_000, true)).toBe(24);
  });
});

describe('capacityOf', () => {
  it.each([
    { limit: 1000, headroom: 0, capacity: 1000 },
    { limit: 1000, headroom: 0.1, capacity: 900 },
    { limit: 10, headroom: 0.9, capacity: 1 },
    { limit: 100, headroom: 0.07, capacity: 93 },
    { limit: 10, headroom: 0.99, capacity: 1 },
    { limit: 0.5, headroom: 0, capacity: 1 },
  ])('leaves $headroom of $limit to others: $capacity', ({ limit, headroom, capacity }) => {
    expect(capacityOf({ limit, headroom, windowMs: 1 })).toBe(capacity);
  });
});
