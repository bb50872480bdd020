import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { namesFile, namesOfEndpoints, readEndpoints } from '../../scripts/endpoints.js';
import table from '../../src/testing/endpoints.json' with { type: 'json' };
import { createFakeMedia, createFakeMessaging } from 'postreel/testing';

const rowsOf = (service: string) =>
  table.filter((row) => row.service === service).map((row) => `${row.method} ${row.path}`);

it('the fake messaging service has a handler for every row of the endpoint table', () => {
  expect(createFakeMessaging().endpoints.sort()).toEqual(rowsOf('messaging').sort());
});

it('the fake media service has a handler for every row of the endpoint table', () => {
  expect(createFakeMedia().endpoints.sort()).toEqual(rowsOf('media').sort());
});

it('the names that an editor completes in `fake.fail()` are those of the endpoint table: npm run api', async () => {
  expect(readFileSync(namesFile, 'utf8')).toBe(await namesOfEndpoints(readEndpoints()));
});
