import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/core/options.js';

describe('the name that somebody may have meant', () => {
  it.each([
    ['nmae', 'name', 'two letters that changed places are one slip'],
    ['tiemout', 'timeout', 'in a longer name, too'],
    ['timeouts', 'timeout', 'a letter too many'],
    ['timout', 'timeout', 'a letter too few'],
    ['TIMEOUT', 'timeout', 'another case is no slip'],
    ['replyTo', 'reply', 'the beginning of what was written'],
  ])('of %s is %s: %s', (written, meant) => {
    expect(nearest(written, ['body', meant])).toBe(meant);
  });

  it.each([
    ['tiemxxt', 'timeout', 'three slips are too many, however they are made'],
    ['nxxe', 'name', 'a short name bears one slip'],
    ['tim', 'timeout', 'three letters could be the beginning of anything'],
  ])('of %s is not %s: %s', (written, other) => {
    expect(nearest(written, ['body', other])).toBeUndefined();
  });

  it('is the one with the fewest slips', () => {
    expect(nearest('timeouz', ['timeaut', 'timeout'])).toBe('timeout');
  });
});
