import { expect, it } from 'vitest';
import { parseDuration } from '../../../src/testing/core/clock.js';

it.each([
  ['500ms', 500],
  ['3s', 3_000],
  ['1.5s', 1_500],
  ['10m', 600_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  [42, 42],
])('reads %s as %d milliseconds', (duration, ms) => {
  expect(parseDuration(duration)).toBe(ms);
});

it.each(['', '10', 'soon', '-1s', '3 weeks', -1, Number.NaN])('refuses %s', (duration) => {
  expect(() => parseDuration(duration)).toThrow(/Not a duration/);
});
