import { isPostreelError, memoryJournal, type Report } from 'postreel';
import { describe, expect, it } from 'vitest';
import { fated, fates, jobShapes, type Fated, type JobShape } from '../support/messaging/fated.js';
import { expectWhole, reportOf } from '../support/messaging/whole-report.js';
import fc, { runs } from '../support/property.js';

const wait = { interval: 1 };

// Each of them ends a call early: seldom enough that all kinds are tried.
const seldom = (arbitrary: fc.Arbitrary<number>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** The failures of a call: of its requests, of its source, or an abort by its caller. */
const troubles = (count: number) => {
  const row = seldom(fc.nat(count - 1));
  const fate = fc.oneof(
    { weight: 1, arbitrary: fc.constant('ok' as const) },
    { weight: 2, arbitrary: fc.constantFrom(...fates) },
  );
  return fc.record({
    plan: fc.array(fate, { maxLength: 8 }),
    bad: fc.uniqueArray(fc.nat(count - 1), { maxLength: 3 }),
    kind: fc.constantFrom(...(['list', 'set', 'generator', 'async generator', 'stream'] as const)),
    breaksAt: row,
    abortsAt: row,
    shape: fc.constantFrom(...(Object.keys(jobShapes) as JobShape[])),
    /** A lost call is repeated: what it did is done. */
    retries: fc.constantFrom(0, 2),
    /** Rows that the service itself refuses. */
    gone: fc.uniqueArray(fc.nat(count - 1), { maxLength: 4 }),
    /** Rows that are another one again. */
    twice: fc.uniqueArray(fc.nat(count - 1), { maxLength: 3 }),
    /** Turns of the event loop until the caller aborts. */
    abortsAfter: seldom(fc.nat(60)),
  });
};
type Trouble = ReturnType<typeof troubles> extends fc.Arbitrary<infer Value> ? Value : never;

/** The rows as a source that may break, and in which the caller may abort. */
function sourceOf<Row>(
  rows: readonly Row[],
  { kind, breaksAt, abortsAt }: Trouble,
  { controller }: Fated,
) {
  function* all() {
    for (const [at, row] of rows.entries()) {
      if (at === breaksAt) {
        throw new Error('The source broke.');
      }
      if (at === abortsAt) {
        controller.abort(new Error('enough'));
      }
      yield row;
    }
  }
  async function* later() {
    for (const row of all()) {
      await Promise.resolve();
      yield row;
    }
  }
  switch (kind) {
    case 'list':
      return Object.assign([...rows], { [Symbol.iterator]: all });
    case 'set':
      return Object.assign(new Set(rows), { [Symbol.iterator]: all });
    case 'generator':
      return all();
    case 'async generator':
      return later();
    case 'stream':
      return streamOf(all());
  }
}

function streamOf<Row>(rows: Iterator<Row, unknown>): ReadableStream<Row> {
  return new ReadableStream<Row>({
    pull(stream) {
      const next = rows.next();
      if (next.done) {
        stream.close();
      } else {
        stream.enqueue(next.value);
      }
    },
  });
}

async function abortAfter(turns: number | undefined, { controller }: Fated): Promise<void> {
  for (let turn = 0; turn < (turns ?? 0); turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (turns !== undefined) {
    controller.abort(new Error('enough'));
  }
}

interface Try<Row> {
  readonly rows: readonly Row[];
  readonly trouble: Trouble;
  readonly scene: Fated;
  readonly start: (source: never) => Promise<Report<Row>>;
  readonly happened: (row: Row, index: number) => boolean | undefined;
  /** The reason that the service gives for a rejected row. */
  readonly reason?: RegExp;
}

/** Holds one call with its troubles against the law. */
async function holds<Row>(tried: Try<Row>): Promise<void> {
  const { rows, trouble, scene, start, happened, reason } = tried;
  const call = start(sourceOf(rows, trouble, scene) as never);
  const aborting = abortAfter(trouble.abortsAfter, scene);
  const report = await reportOf(call, rows.length);
  await aborting;
  // Queued jobs take effect later, even if the response was lost.
  await scene.fake.advance('10s');
  expectWhole(rows, report, happened);
  for (const { error } of report.failed) {
    if (reason && isPostreelError(error) && error.code === 'ROW_FAILED') {
      expect(error.message).toMatch(reason);
    }
  }
}

const law =
  '%s: done, failed, unknown and not reached are exactly the input, and the service agrees';

describe('a call that changes many, with any failure', () => {
  it.each(['deleteAll', 'subscribeAll', 'unsubscribeAll'] as const)(law, async (method) => {
    const count = 2200;
    const createdAt = '2027-01-01T00:00:00.000Z';
    const ofTrouble = async (trouble: Trouble) => {
      const { shape: jobs, retries, bad, gone, twice } = trouble;
      const scene = fated(trouble.plan, { jobs, retries });
      const { contacts } = scene.fake.project;
      const rows = Array.from({ length: count }, (_, at) =>
        bad.includes(at) ? '' : `con_${twice.includes(at) ? at >> 1 : at}`,
      );
      const missing = new Set(gone.map((at) => `con_${at}`));
      for (const id of rows.filter((row) => row !== '' && !missing.has(row))) {
        const subscribed = method === 'unsubscribeAll';
        const email = `${id}@example.com`;
        contacts.set(id, { id, email, subscribed, data: {}, createdAt, updatedAt: createdAt });
      }
      const { signal } = scene.controller;
      const seen = new Map<string, number>();
      rows.forEach((id) => seen.set(id, (seen.get(id) ?? 0) + 1));
      await holds({
        rows,
        // A set has each row once.
        trouble: trouble.kind === 'set' ? { ...trouble, kind: 'list' } : trouble,
        scene,
        start: (source) => scene.messaging.contacts[method](source, { wait, signal }),
        happened: (id) => {
          // A contact that was gone before may be reported as missing or, after a repeat, as deleted. A
          // contact that is listed twice may have either result.
          const isOpen = (method === 'deleteAll' && missing.has(id)) || (seen.get(id) ?? 0) > 1;
          if (isOpen && id !== '') {
            return undefined;
          }
          return method === 'deleteAll'
            ? id !== '' && !contacts.has(id)
            : contacts.get(id)?.subscribed === (method === 'subscribeAll');
        },
        reason: /Contact not found/,
      });
    };
    const property = fc.asyncProperty(troubles(count), ofTrouble);
    await fc.assert(property, { numRuns: runs(12) });
  });

  it(law.replace('%s', 'importAll'), async () => {
    const note = 'x'.repeat(100_000); // five rows fill a file
    const ofTrouble = async (trouble: Trouble) => {
      const { shape: jobs, retries, bad, gone, twice } = trouble;
      const scene = fated(trouble.plan, { jobs, retries });
      const rows = Array.from({ length: 24 }, (_, at) => {
        const name = `p${twice.includes(at) ? at >> 1 : at}`;
        return {
          // The service wants a dot in the domain.
          email: gone.includes(at) ? `${name}@localhost` : `${name}@example.com`,
          note: bad.includes(at) ? NaN : note,
        };
      });
      const { signal } = scene.controller;
      const emails = () =>
        new Set([...scene.fake.project.contacts.values()].map(({ email }) => email));
      const counts = new Map<string, number>();
      rows.forEach(({ email }) => counts.set(email, (counts.get(email) ?? 0) + 1));
      await holds<{ email: string }>({
        rows,
        trouble,
        scene,
        start: (source) =>
          scene.messaging.contacts.importAll(source, { newContacts: 'subscribed', wait, signal }),
        happened: ({ email }) => ((counts.get(email) ?? 0) > 1 ? undefined : emails().has(email)),
        reason: /is not an email address/,
      });
    };
    await fc.assert(fc.asyncProperty(troubles(24), ofTrouble), { numRuns: runs(25) });
  });

  it.each(['sendEach', 'sendEach with a journal'])(law, async (method) => {
    const message = { from: 'shop@example.com', subject: 'News', body: '<p>Hi</p>' };
    const ofTrouble = async ([trouble, concurrency]: [Trouble, number]) => {
      const scene = fated(trouble.plan);
      const [messaging, options] =
        method === 'sendEach'
          ? [scene.messaging, {}]
          : [scene.messaging.with({ journal: memoryJournal() }), { once: 'news' }];
      const rows = Array.from({ length: 25 }, (_, at) =>
        trouble.bad.includes(at) ? { email: `no address ${at}` } : `p${at}@example.com`,
      );
      const { signal } = scene.controller;
      const mailed = () => scene.fake.outbox.map(({ to }) => to);
      await holds<unknown>({
        rows,
        trouble,
        scene,
        start: (source) => {
          const settings = { ...options, concurrency, signal };
          return messaging.sendEach(source, message, settings);
        },
        happened: (_, index) => mailed().includes(`p${index}@example.com`),
      });
      expect(new Set(mailed()).size).toBe(mailed().length);
    };
    const world = fc.tuple(troubles(25), fc.integer({ min: 1, max: 10 }));
    await fc.assert(fc.asyncProperty(world, ofTrouble), { numRuns: runs(10) });
  });

  it('lookupAll and verifyAll yield the first rows in order, and end with the failure', async () => {
    const ofTrouble = async (trouble: Trouble) => {
      const rows = Array.from({ length: 1200 }, (_, at) => `p${at}@example.com`);
      for (const method of ['lookupAll', 'verifyAll'] as const) {
        const emails = method === 'lookupAll' ? rows : rows.slice(0, 60);
        const scene = fated(trouble.plan);
        const { signal } = scene.controller;
        const source = sourceOf(emails, trouble, scene) as never;
        const yielded: string[] = [];
        const run = async () => {
          if (method === 'verifyAll') {
            for await (const { email } of scene.messaging.verifyAll(source, { signal })) {
              yielded.push(email);
            }
          } else {
            for await (const found of scene.messaging.contacts.lookupAll(source, { signal })) {
              yielded.push(...(found['notFound'] as string[])); // of the fake, where no contact is
            }
          }
        };
        const call = run().then(
          () => true,
          () => false,
        );
        await abortAfter(trouble.abortsAfter, scene);
        const isWhole = await call;
        expect(yielded).toEqual(emails.slice(0, yielded.length));
        expect(isWhole && yielded.length < emails.length).toBe(false);
      }
    };
    await fc.assert(fc.asyncProperty(troubles(60), ofTrouble), { numRuns: runs(10) });
  });
});
