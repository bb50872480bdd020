import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { derive } from '../../scripts/open-records.js';

it('docs/open-records.md lists every open type and setting: npx tsx scripts/open-records.ts', async () => {
  const page = readFileSync('docs/open-records.md', 'utf8');
  expect(await derive(page)).toBe(page);
});
