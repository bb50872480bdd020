import { PGlite } from '@electric-sql/pglite';
import { Pool } from 'pg';
import { migratePostgres, postgresJournal, type PostgresClient } from 'postreel/postgres';
import { testJournal } from 'postreel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectToCommute, histories } from '../support/laws/entries.js';
import fc, { runs } from '../support/property.js';
import { noPostgres, startPostgres } from '../support/stores/postgres-server.js';

const kind = noPostgres === undefined ? 'PostgreSQL' : 'PGlite, on one connection';
console.log(`postgresJournal is tested with ${kind}.`);

describe(`postgresJournal on ${kind}`, () => {
  let client: PostgresClient;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    if (noPostgres === undefined) {
      const server = await startPostgres();
      const pool = new Pool({ connectionString: server.url });
      client = pool;
      stop = async () => {
        await pool.end();
        await server.stop();
      };
    } else {
      const database = await PGlite.create();
      client = database;
      stop = () => database.close();
    }
    await migratePostgres(client);
  });
  afterAll(() => stop());

  it('is a journal', () =>
    testJournal(() => postgresJournal(client, { name: 'tested' }), { runs: 5 }));

  // test/journal/entries-commute.test.ts has the stores that need no server.
  it.each([false, true])(
    'takes the entries of a history in any order (at once: %s)',
    async (isAtOnce) => {
      let entries = 0;
      let count = 0;
      await fc.assert(
        fc.asyncProperty(histories, async (history) => {
          const prefix = `law 6 ${isAtOnce} ${count++}`;
          entries += await expectToCommute(
            history,
            () => postgresJournal(client, { name: prefix }),
            isAtOnce,
          );
        }),
        { numRuns: runs(10) },
      );
      console.log(`law 6: ${entries} entries of ${count} histories`);
    },
  );

  it('keeps any text, and lists keys by their code units', async () => {
    const journal = postgresJournal(client, { name: 'texts' });
    const texts = ['\u0000', '\ud83d', '😀', '\uffff', '~', 'é', 'z', '\u0001', '%', "'"];
    for (const text of texts) {
      await journal.put(text, text);
    }
    expect(await journal.list('')).toEqual([...texts].sort().map((key) => ({ key, value: key })));
  });
});
