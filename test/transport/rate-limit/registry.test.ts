import { describe, expect, it } from 'vitest';
import { clientOptions } from '../../../src/core/options.js';
import { BudgetSource } from '../../../src/transport/rate-limit/budget-source.js';
import type { Budget } from '../../../src/core/types.js';
import { memoryStore } from '../../support/transport/memory-store.js';
import { turn } from '../../support/transport/turns.js';
import { resolveSettings, type Settings } from '../../../src/core/client.js';

const service = {
  name: 'messaging',
  environment: { apiKey: 'NO_KEY', baseUrl: 'NO_URL' },
  keyPrefixes: undefined,
  limit: 5,
  windowMs: 60_000,
  alwaysJson: false,
  options: clientOptions,
};

let projects = 0;

function settingsOf(rateLimit: object = {}): Settings {
  const group = `budgets ${projects++}`;
  return resolveSettings(service, {
    baseUrl: 'https://api.test',
    rateLimit: { group, ...rateLimit },
  });
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

  it('of a derived client count in its parent, whose limit stays', async () => {
    const parent = new BudgetSource(settingsOf());
    const budget = parent.for('key');
    const derived = new BudgetSource(settingsOf({ group: undefined, limit: 2 }), parent).for('key');
    await use(derived);
    await use(derived);
    expect(derived?.state()).toMatchObject({ limit: 2, used: 2 });
    expect(budget?.state()).toMatchObject({ limit: 5, used: 2 });
    await expect(derived?.acquire(turn({ maxWaitMs: 0 }))).rejects.toMatchObject({
      code: 'QUEUE_TIMEOUT',
    });
    await use(budget);
    expect(budget?.state().used).toBe(3);
  });

  it('of a derived client cannot be larger than what is left of its parent', async () => {
    const parent = new BudgetSource(settingsOf());
    const derived = new BudgetSource(settingsOf({ group: undefined, limit: 100 }), parent).for(
      'key',
    );
    for (let count = 0; count < 5; count++) {
      await use(parent.for('key'));
    }
    await expect(derived?.acquire(turn({ maxWaitMs: 0 }))).rejects.toMatchObject({
      code: 'QUEUE_TIMEOUT',
    });
    expect(derived?.state()).toMatchObject({ limit: 5, used: 0 });
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

  it('are the same with a store and without', async () => {
    const group = 'stored and not';
    const plain = new BudgetSource(settingsOf({ group })).for('key');
    const { store } = memoryStore();
    const stored = new BudgetSource(settingsOf({ group, store })).for('key');
    await use(plain);
    await use(stored);
    expect(plain?.state().used).toBe(2);
    expect(stored?.state().used).toBe(2);
    expect(new BudgetSource(settingsOf({ group, store })).for('key')).toBe(stored);
  });

  it('hold to one limit when every client has a store of its own and all stores are dead', async () => {
    const group = 'dead stores';
    const budgets = [1, 2, 3].map(() => {
      const { store } = memoryStore();
      const dead = { ...store, take: () => Promise.reject(new Error('gone')) };
      return new BudgetSource(settingsOf({ group, store: dead })).for('key');
    });
    const controller = new AbortController();
    let starts = 0;
    const calls = budgets.flatMap((budget) =>
      Array.from({ length: 5 }, () =>
        Promise.resolve(budget?.acquire(turn({ signal: controller.signal }))).then(() => starts++),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(starts).toBe(5);
    controller.abort('enough');
    await Promise.allSettled(calls);
    expect(starts).toBe(5);
  });

  it('hear of a 429 to any client, whatever its store', async () => {
    const group = 'one is refused';
    const [one, other] = [1, 2].map(() =>
      new BudgetSource(settingsOf({ group, store: memoryStore().store })).for('key'),
    );
    one?.close(600_000);
    await expect(other?.acquire(turn())).rejects.toMatchObject({
      code: 'QUEUE_TIMEOUT',
      retryAfterMs: expect.closeTo(600_000, -4) as number,
    });
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
