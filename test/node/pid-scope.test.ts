import { describe, expect, it } from 'vitest';
import { nameOf, pidScope } from '../../src/node/pid-scope.js';

const facts = { hostname: 'worker', bootId: 'a', pidNamespace: 'pid:[1]' };

describe('the scope of a process id', () => {
  it.each([
    ['machines', { ...facts, hostname: 'other' }],
    ['starts of a machine', { ...facts, bootId: 'b' }],
    ['containers with the same hostname', { ...facts, pidNamespace: 'pid:[2]' }],
  ])('differs between %s', (_, others) => {
    expect(nameOf(others)).not.toBe(nameOf(facts));
  });

  it('is the same for all processes of a system without /proc', () => {
    const mac = { hostname: 'worker', bootId: undefined, pidNamespace: undefined };
    expect(nameOf(mac)).toBe(nameOf({ ...mac }));
  });

  it('is a word without a hyphen, as the names of claims need', () => {
    expect(pidScope()).toMatch(/^[0-9a-f]{16}$/);
  });
});
