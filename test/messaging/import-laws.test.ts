import { MessagingClient } from 'postreel';
import { describe, expect, it } from 'vitest';
import { fated, fates, type Fate } from '../support/messaging/fated.js';
import { reportOf } from '../support/messaging/whole-report.js';
import fc, { runs } from '../support/property.js';

const wait = { interval: 1 };
const people = 8;
const emailOf = (person: number) => `p${person}@example.com`;

interface ImportedRow {
  readonly person: number;
  readonly says: boolean | undefined;
  readonly isRecord: boolean;
  readonly isWrong: boolean;
}

const rowKind: fc.Arbitrary<ImportedRow> = fc.record({
  person: fc.nat(people - 1),
  says: fc.constantFrom(true, false, undefined),
  isRecord: fc.boolean(),
  isWrong: fc.boolean(),
});

const worldKind = fc.record({
  rows: fc.array(rowKind, { maxLength: 24 }),
  /** The state of each person before the import; `undefined` is not a contact yet. */
  before: fc.array(fc.constantFrom(true, false, undefined), {
    minLength: people,
    maxLength: people,
  }),
  newContacts: fc.constantFrom('subscribed' as const, 'unsubscribed' as const, undefined),
  plan: fc.array(fc.constantFrom<Fate>('ok', 'ok', 'ok', ...fates), { maxLength: 6 }),
  isText: fc.boolean(),
  size: fc.constantFrom(0, 200_000),
});
type World = typeof worldKind extends fc.Arbitrary<infer Value> ? Value : never;

const createdAt = '2026-01-01T00:00:00.000Z';

function sourceOf({ rows, isText, size }: World) {
  const note = 'x'.repeat(size);
  if (isText) {
    const lines = rows.map(
      ({ person, says, isWrong }) =>
        `${isWrong ? 'nobody' : emailOf(person)},${says === undefined ? '' : says ? 'yes' : 'no'},${note}\n`,
    );
    return [`email,subscribed,note\n${lines.join('')}`];
  }
  return rows.map(({ person, says, isRecord, isWrong }, at) => ({
    email: isWrong ? 'nobody' : emailOf(person),
    ...(says !== undefined && { subscribed: says }),
    ...(isRecord && { id: `con_${at}`, createdAt }),
    note,
  }));
}

describe('an import with any input and any failure', () => {
  it('counts each row once, and resubscribes nobody without a row that says so', async () => {
    const property = fc.asyncProperty(worldKind, async (world) => {
      const { rows, before, newContacts, plan, isText } = world;
      const { fake, messaging, controller } = fated(plan);
      const { contacts } = fake.project;
      for (const [person, subscribed] of before.entries()) {
        if (subscribed !== undefined) {
          await new MessagingClient(fake.options).contacts.create({
            email: emailOf(person),
            subscribed,
          });
        }
      }
      const options = { newContacts, wait, signal: controller.signal };
      const call = messaging.contacts.importAll(
        sourceOf(world) as readonly { email: string }[],
        options,
      );
      const isRefused = await call.then(
        () => false,
        (error: unknown) => (error as Error).name === 'InvalidRequestError',
      );
      if (!isRefused) {
        const report = await reportOf(call, rows.length);
        const { done, failed, unknown } = report;
        const ended = [...failed, ...unknown].map(({ index }) => index);
        expect(new Set(ended).size).toBe(ended.length);
        const sum = done + failed.length + unknown.length;
        expect(sum).toBeLessThanOrEqual(rows.length);
        if (!isText) {
          expect(sum + (report.notReached ?? NaN)).toBe(rows.length);
        }
      }
      await fake.advance('10s');
      for (const { email, subscribed } of contacts.values()) {
        const person = Number(/\d+/.exec(email)?.[0]);
        const own = rows.filter((row) => row.person === person && !row.isWrong);
        const isInstructed = own.some(({ says, isRecord }) => says && (isText || !isRecord));
        if (!isInstructed && before[person] === false) {
          expect(subscribed).toBe(false);
        }
        const isSilent = own.every(({ says }) => says === undefined);
        if (isSilent && before[person] === undefined && newContacts === 'unsubscribed') {
          expect(subscribed).toBe(false);
        }
        if (isSilent && before[person] === true) {
          expect(subscribed).toBe(true);
        }
      }
    });
    await fc.assert(property, { numRuns: runs(60) });
  });
});
