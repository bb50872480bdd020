import { MediaClient, memoryJournal, MessagingClient, type JournalStore } from 'postreel';
import { postgresJournal } from 'postreel/postgres';
import { redisJournal } from 'postreel/redis';
import { describe, expect, it } from 'vitest';

const redis = { evalsha: () => Promise.resolve(), eval: () => Promise.resolve() };
const pool = { query: () => Promise.resolve({ rows: [] }) };
const base = { apiKey: 'key', baseUrl: 'https://media.test' };

describe('a journal that several projects may share', () => {
  it.each<[string, () => JournalStore, string]>([
    ['Redis', () => redisJournal(redis), 'redisJournal()'],
    ['Postgres', () => postgresJournal(pool), 'postgresJournal()'],
  ])('in %s is refused without a name or a group', async (_, open, name) => {
    const journal = open();
    expect(() => new MediaClient({ ...base, journal })).toThrow(name);
    expect(() => new MediaClient({ ...base, journal, rateLimit: false })).toThrow(name);
    expect(() => new MediaClient({ ...base, journal, rateLimit: { group: 'a' } })).not.toThrow();
    const messaging = new MessagingClient({ ...base, apiKey: 'sk_a', journal });
    const message = { from: 'a@example.com', subject: 'Hi', body: 'Hi' };
    const run = messaging.sendEach(['b@example.com'], message, { key: 'news' });
    await expect(run).rejects.toMatchObject({ code: 'JOURNAL_SHARED' });
  });

  it('is taken with a name, and so is one of a single machine', () => {
    for (const journal of [
      redisJournal(redis, { prefix: 'a' }),
      postgresJournal(pool, { name: 'a' }),
      memoryJournal(),
    ]) {
      expect(() => new MediaClient({ ...base, journal })).not.toThrow();
    }
  });
});
