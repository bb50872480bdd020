import { describe, expect, it } from 'vitest';
import { CongestionWindow } from '../../../src/transport/rate-limit/congestion.js';

describe('CongestionWindow', () => {
  it('does not bound anything as long as nobody refuses', () => {
    expect(new CongestionWindow().bound(0, false)).toBe(Number.POSITIVE_INFINITY);
  });

  it('bounds what is in flight when others use the limit too', () => {
    expect(new CongestionWindow().bound(0, true)).toBe(24);
  });

  it('lets one go first after a refusal, then twice as many with each answer up to a half', () => {
    const congestion = new CongestionWindow();
    congestion.refused(0, 60_000);
    const bounds = [1, 2, 3, 4, 5].map((sentAt) => {
      const bound = congestion.bound(sentAt, false);
      congestion.accepted(sentAt);
      return bound;
    });
    expect(bounds).toEqual([1, 2, 4, 8, 16]);
    for (let sentAt = 6; sentAt < 400; sentAt++) {
      congestion.accepted(sentAt);
    }
    expect(congestion.bound(400, false)).toBe(24);
  });

  it('starts more slowly when it was refused again', () => {
    const congestion = new CongestionWindow();
    congestion.refused(0, 60_000);
    for (const sentAt of [1, 2, 3]) {
      congestion.accepted(sentAt);
    }
    expect(congestion.bound(4, false)).toBe(8);
    congestion.refused(4, 60_000);
    congestion.refused(5, 60_000);
    for (const sentAt of [6, 7]) {
      congestion.accepted(sentAt);
    }
    expect(congestion.bound(8, false)).toBe(4);
    congestion.accepted(8);
    expect(congestion.bound(9, false)).toBe(4.25);
  });

  it('does not listen to answers of requests that left before the refusal', () => {
    const congestion = new CongestionWindow();
    congestion.refused(10, 60_000);
    for (const sentAt of [1, 5, 10]) {
      congestion.accepted(sentAt);
    }
    expect(congestion.bound(11, false)).toBe(1);
  });

  it('ends when a window has passed without a refusal', () => {
    const congestion = new CongestionWindow();
    congestion.refused(0, 60_000);
    congestion.refused(10, 30_000);
    expect(congestion.bound(59_999, false)).toBe(1);
    expect(congestion.bound(60_000, false)).toBe(Number.POSITIVE_INFINITY);
    expect(congestion.bound(60_000, true)).toBe(24);
  });
});
