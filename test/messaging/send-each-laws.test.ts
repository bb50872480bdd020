import { memoryJournal, MessagingClient, type EachRecipient, type EachResult } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { expect, it } from 'vitest';
import fc, { runs } from '../support/property.js';

const mail = { from: 'shop@example.com', subject: 'News', body: '<p>{{plan ?? "free"}}</p>' };

/** A row of any kind, good or bad. Addresses come again, so that rows of one address are compared. */
const row = (count: number) => {
  const email = fc.nat(count).map((at) => `p${at}@example.com`);
  const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  const fields = fc.record(
    {
      email,
      subscribed: fc.constantFrom<unknown>(true, false, undefined, 'false', 0, null),
      data: fc.constantFrom<unknown>(null, {}, { plan: 'pro' }, { plan: 'team' }, 'no data'),
      once: optional(fc.constantFrom('a', 'b', '')),
      id: fc.constantFrom<unknown>('con_1', 7),
      createdAt: fc.constant('2026-11-21T09:30:00.000Z'),
      plan: fc.constant('gold'),
    },
    { requiredKeys: ['email'] },
  );
  return fc.oneof(email, fields, fc.constantFrom<unknown>(null, 7, 'no address', {}));
};
const world = fc.record({
  rows: fc.array(row(6), { maxLength: 14 }),
  hasOnce: fc.boolean(),
  from: fc.nat(3),
  concurrency: fc.integer({ min: 1, max: 4 }),
  lost: fc.nat(3),
  refused: fc.nat(3),
});

it('every row gets one result, no unsubscribed person is mailed, and nobody is subscribed', async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ rows, hasOnce, from, concurrency, lost, refused }) => {
      const fake = createFakeMessaging();
      const path = 'POST /v1/send';
      fake.fail(path, { loseAnswer: true, after: lost });
      fake.fail(path, { status: 422, after: refused });
      const journal = memoryJournal();
      const messaging = new MessagingClient({ ...fake.options, rateLimit: false, journal });
      messaging.on('warning', () => undefined);
      for (let at = 0; at <= 6; at++) {
        await messaging.contacts.create({ email: `p${at}@example.com`, subscribed: false });
      }
      const results: EachResult[] = [];
      const report = await messaging.sendEach(rows as EachRecipient[], mail, {
        from,
        concurrency,
        onResult: (one) => results.push(one),
        ...(hasOnce && { once: 'news' }),
      });
      const { done, sent, earlier, failed, unknown, skipped } = report;
      const count = Math.max(0, rows.length - from);
      expect(done + failed.length + unknown.length + skipped.length).toBe(count);
      expect(sent + earlier).toBe(done);
      expect(results).toHaveLength(count);
      const places = [...failed, ...unknown, ...skipped].map(({ index }) => index);
      expect(new Set(places).size).toBe(places.length);
      const stayed = rows.filter(
        (one) => (Object(one) as { subscribed?: unknown }).subscribed !== false,
      );
      const mayBeMailed = new Set(
        stayed.map((one) =>
          typeof one === 'string' ? one : (Object(one) as { email?: unknown }).email,
        ),
      );
      expect(fake.outbox.every(({ to }) => mayBeMailed.has(to))).toBe(true);
      expect([...fake.project.contacts.values()].some(({ subscribed }) => subscribed)).toBe(false);
    }),
    { numRuns: runs(40) },
  );
});
