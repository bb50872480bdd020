import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** The most files of ours whose functions may run during one call. */
const bounds = { 'contacts.create': 26, 'generate.video': 34 } as const;

describe('the trip of one call', () => {
  it.each(Object.entries(bounds))('of %s passes at most %i files', (name, most) => {
    const node = ['--import', 'tsx', 'test/support/architecture/trip.ts', name];
    const output = execFileSync(process.execPath, node, { encoding: 'utf8' });
    const files = JSON.parse(output) as string[];
    expect(files).toContain('transport/transport.ts');
    expect(files.length, files.join('\n')).toBeLessThanOrEqual(most);
  });
});
