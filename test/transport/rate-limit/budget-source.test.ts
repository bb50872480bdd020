import { expect, it } from 'vitest';
import { clientOptions } from '../../../src/core/options.js';
import { BudgetSource } from '../../../src/transport/rate-limit/budget-source.js';
import { resolveSettings } from '../../../src/core/client.js';
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
  options: clientOptions,
};
const baseUrl = 'https://project.test';
let groups = 0;

function budgetsOf(rateLimit: RateLimitOptions | false | undefined, parent?: BudgetSource) {
  return new BudgetSource(resolveSettings(service, { baseUrl, rateLimit }), parent);
}

const { store } = memoryStore();
const kinds: Record<string, RateLimitOptions> = {
  'usual limits': {},
  'limits of its own': { limit: 3 },
  'a store': { store },
};

it.each(Object.entries(kinds))('a client with %s knows what another one has used', (_, own) => {
  const options = { group: `group ${++groups}`, ...own };
  const budgets = budgetsOf(options);
  expect(budgetsOf(options).state('key')).toMatchObject({ used: 0, limit: own.limit ?? 5 });
  void budgets.for('key')?.acquire(turn());
  expect(budgets.state('key')).toMatchObject({ used: 1 });
  expect(budgetsOf(options).state('key')).toEqual(budgets.state('key'));
});

it('a client without limits has no state', () => {
  expect(budgetsOf(false).state('key')).toBeUndefined();
});

it.each([
  [{}, { used: 1, limit: 5 }],
  [{ limit: 2 }, { used: 0, limit: 2 }],
])('a derived client with %o starts with %o', (own, state) => {
  const group = `group ${++groups}`;
  const parent = budgetsOf({ group });
  void parent.for('key')?.acquire(turn());
  expect(budgetsOf({ group, ...own }, parent).state('key')).toMatchObject(state);
});
