import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { publicNamesFile, readPublicNames } from '../../scripts/public-names.js';
import { namelessTypes } from '../support/package/nameless.js';

it('the public names change only together with their list: npm run api', async () => {
  expect(await readPublicNames()).toEqual(JSON.parse(readFileSync(publicNamesFile, 'utf8')));
});

it('every type behind the public names has a public name', () => {
  expect(namelessTypes()).toEqual([]);
});
