import { EventEmitter } from 'node:events';
import { MediaClient, MessagingClient } from 'postreel';
import {
  migratePostgres,
  postgresJournal,
  postgresMigration,
  postgresRateBudget,
  type PostgresClient,
} from 'postreel/postgres';
import { createFakeMedia, createFakeMessaging } from 'postreel/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';

const install = 'Install `pg` and pass `new Pool({ connectionString })`.';
const mail = { from: 'a@example.com', to: 'b@example.com', subject: 'Hi', body: 'Hi' };

describe('postreel/postgres without a pool', () => {
  const none = undefined as unknown as PostgresClient;

  it('says which package to install', async () => {
    expect(() => postgresRateBudget(none)).toThrow(install);
    await expect(migratePostgres(none)).rejects.toThrow(install);
  });
});

describe('postreel/postgres with a client of another package', () => {
  const query = () => Promise.resolve([]);
  it.each([
    ['pg-promise', { query, any: query, $pool: {} }, 'With pg-promise, pass `db.$pool`.'],
    ['Slonik', { query, any: query }, 'does not fit'],
    ['TypeORM', { query, createQueryRunner: () => ({}) }, 'does not fit'],
    ['Sequelize', { query, getQueryInterface: () => ({}) }, 'does not fit'],
  ])('rejects the client of %s when the store is created', async (_, client, hint) => {
    const pool = client as unknown as PostgresClient;
    for (const make of [() => postgresJournal(pool), () => postgresRateBudget(pool)]) {
      expect(make).toThrow(install);
      expect(make).toThrow(hint);
    }
    await expect(migratePostgres(pool)).rejects.toThrow(install);
  });

  it('names the client it needs at the first call if it could not detect the package earlier', async () => {
    const journal = postgresJournal({ query } as unknown as PostgresClient, { name: 'shop' });
    const fake = createFakeMessaging();
    const messaging = new MessagingClient({ ...fake.options, journal });
    await expect(messaging.send(mail, { once: 'a' })).rejects.toMatchObject({
      code: 'POSTGRES_MISSING',
      message: expect.stringContaining(install) as string,
      outcome: 'not-sent',
    });
    expect(fake.requests).toEqual([]);
  });
});

describe('a database in which migratePostgres() was forgotten', () => {
  // The error codes of Postgres: undefined_table and undefined_function.
  const poolOf = (code: string): PostgresClient => ({
    query: () => Promise.reject(Object.assign(new Error('relation … does not exist'), { code })),
  });
  const expected = {
    name: 'ConfigurationError',
    code: 'POSTGRES_NOT_MIGRATED',
    message: expect.stringContaining('Call `await migratePostgres(pool)`') as string,
    outcome: 'not-sent',
  };

  it.each(['42P01', '42883'])(
    'makes a call with `once` fail and is named in the error (%s)',
    async (code) => {
      const fake = createFakeMessaging();
      const journal = postgresJournal(poolOf(code), { name: 'shop' });
      const messaging = new MessagingClient({ ...fake.options, journal });
      await expect(messaging.send(mail, { once: 'a' })).rejects.toMatchObject(expected);
      expect(fake.requests).toEqual([]);
    },
  );

  it('makes every call fail that needs the shared budget, and sends nothing outside it', async () => {
    const fake = createFakeMessaging();
    const store = postgresRateBudget(poolOf('42883'));
    const messaging = new MessagingClient({ ...fake.options, rateLimit: { store } });
    const calls = [1, 2, 3].map(() => messaging.send(mail));
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: 'rejected', reason: expected });
    }
    expect(fake.requests).toEqual([]);
  });

  it('makes a paid call fail whose pending slots are leased in it', async () => {
    const fake = createFakeMedia();
    const store = postgresRateBudget(poolOf('42P01'));
    const media = new MediaClient({ ...fake.options, rateLimit: { store } });
    const video = { workflowType: 'idea', prompt: 'Cats', voiceId: 'voice_1' } as const;
    await expect(media.generate.video(video)).rejects.toMatchObject(expected);
    // Only the table of the leases is missing here.
    const halfStore = { ...store, take: () => Promise.resolve({ slots: ['slot'] }) };
    const half = new MediaClient({
      ...fake.options,
      rateLimit: { store: { ...halfStore, release: async () => {}, cancel: async () => {} } },
    });
    await expect(half.generate.video(video)).rejects.toMatchObject(expected);
    expect(fake.requests).toEqual([]);
  });
});

it.each(['40001', '40P01'])('a statement that Postgres undid (%s) is run again', async (code) => {
  let runs = 0;
  const query = () =>
    ++runs === 1
      ? Promise.reject(Object.assign(new Error('deadlock detected'), { code }))
      : Promise.resolve({ rows: [] });
  await postgresRateBudget({ query }).close('group', 1_000);
  expect(runs).toBe(2);
});

describe('a pool without a listener for `error`', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  afterEach(() => void warn.mockClear());
  const newPool = () =>
    Object.assign(new EventEmitter(), { query: () => Promise.resolve({ rows: [] }) });

  it('causes one warning, at the first use, and stays unchanged', async () => {
    const pool = newPool();
    const journal = postgresJournal(pool, { name: 'shop' });
    const budget = postgresRateBudget(pool);
    expect(warn).not.toHaveBeenCalled();
    await journal.get('a');
    await journal.get('b');
    await budget.close('group', 1_000);
    await migratePostgres(pool);
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.lastCall?.[0]).toContain("pool.on('error',");
    expect(pool.listenerCount('error')).toBe(0);
  });

  it('causes a warning by a migration too', async () => {
    await migratePostgres(newPool());
    expect(warn).toHaveBeenCalledOnce();
  });

  it('causes no warning if it has a listener, or if the client emits no events', async () => {
    await migratePostgres(newPool().on('error', () => undefined));
    await migratePostgres({ query: () => Promise.resolve({ rows: [] }) });
    expect(warn).not.toHaveBeenCalled();
  });
});

describe('postgresMigration', () => {
  it('drops nothing and can be run again', () => {
    expect(postgresMigration).not.toMatch(/\bdrop\b|\btruncate\b/i);
    expect(postgresMigration).not.toMatch(/create (table|index) (?!if not exists)/i);
    expect(postgresMigration).not.toMatch(/create function/i);
  });
});
