import { describe, expect, it } from 'vitest';
import { BudgetSource } from '../../../src/transport/rate-limit/registry.js';
import type { Budget } from '../../../src/transport/rate-limit/budget.js';
import { turn } from '../../support/transport/turns.js';
import { settle, type Settings } from '../../../src/transport/settings.js';

const service = {
  name: 'messaging',
  environment: { apiKey: 'NO_KEY', baseUrl: 'NO_URL' },
  keyPrefixes: [],
  limit: 5,
  windowMs: 60_000,
  alwaysJson: false,
};

let projects = 0;

function settingsOf(rateLimit: object = {}): Settings {
  const group = `budgets ${projects++}`;
  return settle(service, { baseUrl: 'https://api.test', rateLimit: { group, ...rateLimit } });
}

async function use(budget: Budget | undefined): Promise<void> {
  const slot = await budget!.acquire(turn({ maxWaitMs: 0 }));
  slot.release();
}

describe('the budgets of a process', () => {
  it('are one for each project, however many clients there are', () => {
    const settings = settingsOf();
    const budget = new BudgetSource(settings).for('key');
    expect(budget).toBeDefined();
    expect(new BudgetSource(settings).for('another key')).toBe(budget);
    expect(new BudgetSource(settingsOf()).for('key')).not.toBe(budget);
  });

  it('are found once: whoever waits stays in the same line', () => {
    const source = new BudgetSource(settingsOf());
    expect(source.for('key')).toBe(source.for('other key'));
  });

  it('wait for the key that names them, unless a group does', () => {
    const source = new BudgetSource(settingsOf({ group: undefined }));
    expect(source.for(undefined)).toBeUndefined();
    expect(source.for(null)).toBeDefined();
    expect(new BudgetSource(settingsOf()).for(undefined)).toBeDefined();
  });

  it('take over limits that somebody asks for', () => {
    const group = 'budgets that change';
    const budget = new BudgetSource(settingsOf({ group })).for('key');
    expect(budget?.state().limit).toBe(5);
    new BudgetSource(settingsOf({ group, limit: 7 })).for('key');
    expect(budget?.state().limit).toBe(7);
    new BudgetSource(settingsOf({ group })).for('key'); // who says nothing changes nothing
    expect(budget?.state().limit).toBe(7);
  });

  it('are forgotten when there are many and nothing is going on', async () => {
    const [idle, used, closed] = [settingsOf(), settingsOf(), settingsOf()];
    const before = [idle, used, closed].map((settings) => new BudgetSource(settings).for('key'));
    await use(before[1]);
    before[2]?.close(60_000);
    for (let count = 0; count < 1_000; count++) {
      new BudgetSource(settingsOf()).for('key');
    }
    const after = [idle, used, closed].map((settings) => new BudgetSource(settings).for('key'));
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(after[2]).toBe(before[2]);
  });
});
