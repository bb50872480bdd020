import { expect, it } from 'vitest';
import { budgetsOf } from '../../../src/transport/rate-limit/registry.js';
import { ProjectLimit } from '../../../src/transport/rate-limit/project.js';
import { settle } from '../../../src/transport/settings.js';
import type { RateLimitOptions } from 'postreel';
import { memoryStore } from '../../support/transport/memory-store.js';
import { turn } from '../../support/transport/turns.js';

const service = {
  name: 'test',
  environment: { apiKey: 'TEST_API_KEY', baseUrl: 'TEST_BASE_URL' },
  keyPrefixes: undefined,
  limit: 5,
  windowMs: 1_000,
  alwaysJson: false,
};
const baseUrl = 'https://project.test';
let groups = 0;

function project(rateLimit: RateLimitOptions | false | undefined, parent?: ProjectLimit) {
  return new ProjectLimit(settle(service, { baseUrl, rateLimit }), parent);
}

const { store } = memoryStore();
const kinds: Record<string, RateLimitOptions | false> = {
  'usual limits': {},
  'limits of its own': { limit: 3 },
  'a store': { store },
  'no limits': false,
};

it.each(Object.entries(kinds))(
  'a client with %s says before its first call what it says then',
  (_, own) => {
    const group = `group ${++groups}`;
    const options = own === false ? own : { group, ...own };
    const before = project(options).state('key');
    const budgets = budgetsOf(project(options));
    expect(before).toEqual(budgets.for('key')?.state());
    void budgets.for('key')?.acquire(turn());
    expect(project(options).state('key')).toEqual(budgets.for('key')?.state());
  },
);

it.each([{}, { limit: 2 }])('a derived client with %o does so too', (own) => {
  const group = `group ${++groups}`;
  const parent = project({ group });
  void budgetsOf(parent).for('key')?.acquire(turn());
  const before = project({ group, ...own }, parent).state('key');
  expect(before).toEqual(
    budgetsOf(project({ group, ...own }, parent))
      .for('key')
      ?.state(),
  );
});
