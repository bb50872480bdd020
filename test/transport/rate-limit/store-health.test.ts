import { expect, it } from 'vitest';
import { StoreHealth } from '../../../src/core/shared-rate-limit.js';

function watched() {
  const warnings: string[] = [];
  return { warnings, health: new StoreHealth((message) => warnings.push(message)) };
}

it('warns once per outage', () => {
  const { health, warnings } = watched();
  health.failed('take', new Error('gone'));
  health.failed('take', new Error('gone'));
  health.failed('release', new Error('gone'));
  health.failed('speed', new Error('gone'));
  expect(warnings).toHaveLength(1);
  health.succeeded('take');
  health.succeeded('release');
  health.succeeded('speed');
  health.failed('take', new Error('gone'));
  expect(warnings).toHaveLength(2);
});

it('warns of a fallback, though the outage is known', () => {
  const { health, warnings } = watched();
  health.failed('close', new Error('gone'));
  health.failed('take', new Error('gone'));
  expect(warnings).toEqual([
    'The store of the rate limit failed to close (gone). Other processes go on sending although the service asked to wait.',
    'The store of the rate limit failed to take (gone). Until it answers, this process keeps to the limit by itself, and several processes may exceed it together.',
  ]);
});

it('does not quote a password, nor more than a line', () => {
  const { health, warnings } = watched();
  health.failed('take', new Error(`connect redis://user:pass@host:1\nfailed ${'x'.repeat(999)}`));
  expect(warnings[0]).toContain('(connect redis://host:1 failed xxx');
  expect(warnings[0]?.length).toBeLessThan(400);
});
