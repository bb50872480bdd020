import {
  migratePostgres,
  postgresMigration,
  postgresRateBudget,
  withSchedulerLock,
  type LockPool,
  type PostgresClient,
} from 'postreel/postgres';
import { describe, expect, it } from 'vitest';

describe('postreel/postgres without a pool', () => {
  const none = undefined as unknown as PostgresClient & LockPool;

  it('says what to install', async () => {
    const install = 'Install `pg` and pass `new Pool({ connectionString })`.';
    expect(() => postgresRateBudget(none)).toThrow(install);
    await expect(migratePostgres(none)).rejects.toThrow(install);
    await expect(withSchedulerLock(none, 'videos', () => Promise.resolve())).rejects.toThrow(
      install,
    );
  });
});

describe('postgresMigration', () => {
  it('drops nothing and can be run again', () => {
    expect(postgresMigration).not.toMatch(/\bdrop\b|\btruncate\b/i);
    expect(postgresMigration).not.toMatch(/create (table|index) (?!if not exists)/i);
    expect(postgresMigration).not.toMatch(/create function/i);
  });
});
