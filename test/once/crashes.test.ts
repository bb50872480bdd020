import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPostreelError, memoryJournal, MessagingClient, type JournalStore } from 'postreel';
import { fileJournal } from 'postreel/node';
import { createFakeMessaging, type FakeMessaging, type Fault } from 'postreel/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mortalProcess, type Death, type Outage } from '../support/once/mortal.js';
import fc, { runs } from '../support/property.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-crashes-'));
});
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
const stores: Readonly<Record<string, () => () => JournalStore>> = {
  memory: () => {
    const journal = memoryJournal();
    return () => journal;
  },
  'a file': () => {
    const path = join(folder, `${files++}.jsonl`);
    return () => fileJournal(path);
  },
};

/** A simulated process: its calls, when it dies, and the faults that happen while it runs. */
interface Process {
  readonly calls: readonly { readonly key: number; readonly content: number }[];
  readonly death: Death | null;
  readonly outage: Outage | null;
  readonly fault: Fault | null;
}

const keys = [0, 1, 2];
const step = fc.integer({ min: 1, max: 14 });
const process_: fc.Arbitrary<Process> = fc.record({
  // Mostly the same content: other content under the same key is an error.
  calls: fc.array(
    fc.record({ key: fc.constantFrom(...keys), content: fc.constantFrom(0, 0, 0, 0, 1) }),
    { minLength: 1, maxLength: 4 },
  ),
  death: fc.option(fc.record({ step, isAfter: fc.boolean() })),
  outage: fc.option(
    fc.record({ step, times: fc.integer({ min: 1, max: 6 }), isAfter: fc.boolean() }),
  ),
  fault: fc.option(
    fc.constantFrom<Fault>(
      { status: 422 },
      { status: 503 },
      { status: 429, retryAfter: 2 },
      { drop: true },
      { loseAnswer: true },
      { truncate: true },
      { html: true, loseAnswer: false },
    ),
  ),
});
// Rounds of processes: those of one round run at the same time.
const processRounds = fc.array(fc.array(process_, { minLength: 1, maxLength: 2 }), {
  maxLength: 4,
});

it.each(Object.entries(stores))(
  'over %s no mail is sent twice and none is lost without `unknown`, wherever processes die',
  async (name, create) => {
    const counts = { answered: 0, unknown: 0, conflicts: 0, died: 0 };
    await fc.assert(
      fc.asyncProperty(processRounds, async (rounds) => {
        const fake = createFakeMessaging();
        const open = create();
        for (const round of rounds) {
          const ends = await Promise.all(round.map((one) => runProcess(fake, open(), one)));
          counts.died += ends.filter((end) => end === 'dead').length;
        }
        for (const key of keys) {
          await check(fake, open(), key, counts);
        }
      }),
      { numRuns: runs(name === 'memory' ? 60 : 15) },
    );
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
  },
);

async function runProcess(
  fake: FakeMessaging,
  store: JournalStore,
  one: Process,
): Promise<unknown> {
  const { calls, death, outage, fault } = one;
  const { fetch, journal, dead } = mortalProcess(fake.fetch, store, { death, outage });
  const messaging = new MessagingClient({ ...fake.options, fetch, journal });
  messaging.on('warning', () => undefined);
  const takeBack = fault && fake.fail('POST /v1/send', fault);
  const ended = Promise.allSettled(calls.map(({ key, content }) => send(messaging, key, content)));
  const end = await Promise.race([dead, ended]);
  takeBack?.();
  return end;
}

const send = (messaging: MessagingClient, key: number, content: number) => {
  const mail = { from: 'a@example.com', to: 'b@example.com', body: 'Hi' };
  return messaging.send({ ...mail, subject: `${key}/${content}` }, { once: `key ${key}` });
};

/** Checks that the answer which a last process gets agrees with the mails that the service sent. */
async function check(
  fake: FakeMessaging,
  journal: JournalStore,
  key: number,
  counts: { answered: number; unknown: number; conflicts: number },
): Promise<void> {
  const messaging = new MessagingClient({ ...fake.options, journal });
  const failures: unknown[] = [];
  const answer = await send(messaging, key, 0).catch((failure: unknown) => {
    failures.push(failure);
    return undefined;
  });
  const mailed = fake.outbox.filter(({ subject }) => subject.startsWith(`${key}/`));
  expect(mailed.length).toBeLessThanOrEqual(1);
  if (answer) {
    expect(mailed.map(({ id, subject }) => [id, subject])).toEqual([
      [answer.emails[0]?.email, `${key}/0`],
    ]);
    counts.answered += 1;
    return;
  }
  const [failure] = failures;
  const code = isPostreelError(failure) ? failure.code : failure;
  expect(['OUTCOME_UNKNOWN', 'ONCE_CONFLICT']).toContain(code);
  counts[code === 'ONCE_CONFLICT' ? 'conflicts' : 'unknown'] += 1;
}
