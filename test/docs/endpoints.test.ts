import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeEndpoints, page, readEndpoints } from '../../scripts/endpoints.js';

const endpoints = readEndpoints();

describe('the documents', () => {
  it('list the method for each endpoint', async () => {
    expect(readFileSync(page, 'utf8')).toBe(await describeEndpoints(endpoints));
  });

  it.each(['README.md', 'CHANGELOG.md'])('have the right number of endpoints in %s', (document) => {
    const counts = readFileSync(document, 'utf8').matchAll(/(?:all|of their) (\d+) endpoints/gi);
    expect([...counts].map(([, count]) => Number(count))).toEqual([endpoints.length]);
  });
});
