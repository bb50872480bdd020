import { describe, expect, it } from 'vitest';
import { capacityOf } from '../../src/core/rate-store.js';

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
