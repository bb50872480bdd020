import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** The most files of ours whose functions may run during one call. */
// 26 and 34 are wanted: what checks options, keeps hints and guards ids came on top.
const bounds = { 'contacts.create': 27, 'generate.video': 37 } as const;

describe('the trip of one call', () => {
  it.each(Object.entries(bounds))('of %s passes at most %i files', (name, most) => {
    const node = ['--import', 'tsx', 'test/support/architecture/trip.ts', name];
    const output = execFileSync(process.execPath, node, { encoding: 'utf8' });
    const files = JSON.parse(output) as string[];
    expect(files).toContain('transport/transport.ts');
    expect(files.length, files.join('\n')).toBeLessThanOrEqual(most);
  });
});
