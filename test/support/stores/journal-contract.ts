import {
  memoryJournal,
  type JobJournal,
  type JournalEntry,
  type JournalIntent,
  type NamedJob,
} from 'postreel';
import { describe, expect, it } from 'vitest';
import { history } from '../media/journal-entries.js';
import fc from '../property.js';

const at = '2026-01-01T00:00:00.000Z';
const speech = { content: 'Good morning!', voiceId: 'voice_1' };
const names = ['queue/1', 'queue/2', 'queue/3', 'queue/4'];

const intent = (id: string, own: readonly string[], more: Partial<JournalIntent> = {}) => ({
  type: 'intent' as const,
  id,
  at,
  jobs: own.map(() => speech),
  names: own,
  ...more,
});
const job = (fileId: string) => ({ fileId, kind: 'audio' as const });

/** What every journal does, whatever it stands on; `open` gives the same one for the same name. */
export function journalContract(open: (name: string) => JobJournal): void {
  let count = 0;
  const fresh = () => `journal ${++count}`;

  describe('a journal', () => {
    it('says the same as the one in memory, whatever was written', async () => {
      const property = fc.asyncProperty(
        history.map((entries) => entries.map(realistic)),
        async (entries) => {
          const name = fresh();
          const model = memoryJournal();
          for (const entry of entries) {
            await open(name).append(entry);
            await model.append(entry);
          }
          expect(await facts(open(name))).toEqual(await facts(model));
        },
      );
      await fc.assert(property, { numRuns: 40 });
    });

    it('says the same while names are claimed, answered, refused and tried again', async () => {
      const property = fc.asyncProperty(claims, async (steps) => {
        const name = fresh();
        const model = memoryJournal();
        for (const [index, step] of steps.entries()) {
          const entry = intent(`call_${index}`, step.names, { retriesFailed: step.retries });
          const taken = await open(name).claim(entry);
          expect(ageless(taken)).toEqual(ageless(await model.claim(entry)));
          if (taken.size === 0) {
            const jobs = step.names.map((_, place) => job(`file_${index}_${place}`));
            const answer =
              step.answer === 'refused'
                ? { type: 'refused' as const, id: entry.id }
                : { type: 'accepted' as const, id: entry.id, jobs };
            const end = { type: 'finished' as const, fileId: `file_${index}_0`, status: step.end };
            for (const written of step.answer === 'none' ? [] : [answer, end]) {
              await open(name).append(written);
              await model.append(written);
            }
          }
          expect(await facts(open(name))).toEqual(await facts(model));
        }
      });
      await fc.assert(property, { numRuns: 25 });
    });

    it('gives a name to one of many that claim it at once', async () => {
      const name = fresh();
      const claimed = await Promise.all(
        Array.from({ length: 8 }, (_, index) => open(name).claim(intent(`call_${index}`, names))),
      );
      expect(claimed.filter(({ size }) => size === 0)).toHaveLength(1);
      expect((await open(name).pending()).unknown).toHaveLength(1);
    });

    it('measures the age of a claim by its own clock', async () => {
      const name = fresh();
      await open(name).claim(intent('call_1', names));
      const known = (await open(name).find(['queue/1'])).get('queue/1');
      expect(known).toMatchObject({ state: 'claimed', id: 'call_1' });
      expect(known?.state === 'claimed' && known.ageMs).toBeLessThan(10_000);
    });

    it('keeps the words of a job as they are', async () => {
      const name = fresh();
      const odd = { content: "“Grüße” \\ ' \t 👩‍👩‍👧 {} []", voiceId: '', list: [], nested: {} };
      await open(name).append({ type: 'intent', id: 'call_1', at, jobs: [odd] });
      const { unknown } = await open(name).pending();
      expect(unknown).toEqual([{ type: 'intent', id: 'call_1', at, jobs: [odd] }]);
    });

    it('keeps journals of different names apart', async () => {
      const name = fresh();
      await open(name).claim(intent('call_1', names));
      expect(await open(fresh()).find(names)).toEqual(new Map());
    });
  });
}

/** A file is of one kind, whoever speaks of it. */
function realistic(entry: JournalEntry): JournalEntry {
  if (entry.type !== 'accepted') {
    return entry;
  }
  const { unassigned = [] } = entry;
  return {
    ...entry,
    jobs: entry.jobs.map((record) => record && job(record.fileId)),
    unassigned: unassigned.map(({ fileId }) => job(fileId)),
  };
}

const claims = fc.array(
  fc.record({
    names: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 2 }),
    retries: fc.boolean(),
    answer: fc.constantFrom('accepted', 'refused', 'none'),
    end: fc.constantFrom('success', 'error'),
  }),
  { maxLength: 8 },
);

async function facts(journal: JobJournal): Promise<unknown> {
  const { jobs, finished, unknown } = await journal.pending();
  const byId = (records: readonly { fileId: string }[]) =>
    [...records].sort((one, other) => (one.fileId < other.fileId ? -1 : 1));
  const known = ageless(await journal.find(names));
  return { jobs: byId(jobs), finished: byId(finished), unknown, known };
}

function ageless(known: ReadonlyMap<string, NamedJob>): unknown {
  const entries = [...known].map(([name, value]) => [
    name,
    value.state === 'claimed' ? { ...value, ageMs: 0 } : value,
  ]);
  return Object.fromEntries(entries) as unknown;
}
