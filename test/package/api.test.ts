import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeApi, page } from '../../scripts/api.js';

it('docs/api.md lists every public name with its signature', async () => {
  expect(await describeApi()).toBe(readFileSync(page, 'utf8'));
});
