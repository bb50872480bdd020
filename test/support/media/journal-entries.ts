import type { JournalEntry } from 'postreel';
import fc from '../property.js';

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const few = (prefix: string) =>
  fc.integer({ min: 1, max: 4 }).map((number) => `${prefix}${number}`);
const records = fc.array(
  fc.record({ fileId: few('file_'), kind: fc.constantFrom('video' as const, 'audio' as const) }),
  { maxLength: 4 },
);
const jobs = fc.array(fc.record({ content: text, voiceId: text }), { maxLength: 3 });
const names = fc.uniqueArray(few('queue/'), { maxLength: 4 });
const at = fc.constant('2026-01-01T00:00:00.000Z');

/** Any entry at all, in any order with others. */
export const anyEntry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc.record(
    { type: fc.constant('intent' as const), id: few('call_'), at, jobs, names },
    { requiredKeys: ['type', 'id', 'at', 'jobs'] },
  ),
  fc.record({ type: fc.constant('accepted' as const), id: few('call_'), jobs: records }),
  fc.record({
    type: fc.constant('accepted' as const),
    id: few('call_'),
    jobs: records.map((jobs) => [null, ...jobs]),
    unassigned: records,
  }),
  fc.record({ type: fc.constant('refused' as const), id: few('call_') }),
  fc.record({
    type: fc.constant('finished' as const),
    fileId: few('file_'),
    status: fc.constantFrom('success', 'error', 'canceled'),
  }),
  fc.record({ type: fc.constant('settled' as const), fileId: few('file_'), status: text }),
);

/** What a client writes: each call has its own id and is answered once, or never. */
export const history: fc.Arbitrary<JournalEntry[]> = fc
  .array(anyEntry, { maxLength: 40 })
  .map((entries) => {
    const open: string[] = [];
    return entries.flatMap((entry, index): JournalEntry[] => {
      if (entry.type === 'settled' || entry.type === 'finished') {
        return [entry];
      }
      if (entry.type === 'intent') {
        open.push(`call_${index}`);
        return [{ ...entry, id: `call_${index}` }];
      }
      const [id] = open.splice(index % Math.max(1, open.length), 1);
      return id === undefined ? [] : [{ ...entry, id }];
    });
  });
