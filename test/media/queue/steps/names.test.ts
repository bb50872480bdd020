import { describe, expect, it } from 'vitest';
import type { KnownJob } from '../../../../src/media/jobs/journal-types.js';
import {
  ends,
  entriesOf,
  only,
  recordOf,
  rules,
  Steps,
  submitted,
  wakeAt,
} from '../../../support/media/scheduler.js';

describe('a name', () => {
  const accepted = (fileId: string): KnownJob =>
    ({ state: 'accepted', job: recordOf(fileId), ageMs: 0 }) as never; // as a journal has it
  const claimed = (ageMs: number): KnownJob => ({ state: 'claimed', ageMs }) as never; // as a journal has it
  const named = entriesOf(3, (index) => ({ name: `job ${index}` }));

  it('that another run was faster with is followed, waited for, or free again', () => {
    const steps = new Steps();
    steps.read(...named);
    const taken = new Map([
      ['job 0', accepted('a')],
      ['job 1', claimed(60_000)],
    ]);
    const commands = steps.hear({ type: 'names-taken', taken });
    expect(only(commands, 'assign-slots')).toEqual([
      { type: 'assign-slots', fileIds: [], uncertain: 0 },
    ]);
    expect(only(commands, 'hold')).toEqual([{ type: 'hold', fileId: 'a' }]);
    expect(steps.state.claimed.get(1)).toEqual({ entry: named[1], until: 240_000 });
    expect(submitted(commands)).toEqual([]); // the slots are given back first
    expect(submitted(steps.at(0))).toEqual([2]); // and then at once: no call was made
    expect(steps.state.submitted).toBe(1);
  });

  it('that is claimed is waited for until an outage of the journal is over', () => {
    const steps = new Steps();
    steps.hear({ type: 'read', entries: [{ entry: named[0]!, known: claimed(0) }] });
    const asked = (now: number) => {
      steps.at(now);
      return steps.hear({ type: 'unread', error: new Error('gone') });
    };
    expect(only(asked(10_000), 'outage')).toHaveLength(1);
    const late = asked(300_001);
    expect(only(late, 'find')).toEqual([]);
    expect(wakeAt(late)).toBe(310_001);
    expect(ends(asked(300_000 + rules.outageMs - 1))).toEqual([]);
    expect(ends(asked(300_000 + rules.outageMs))).toEqual([[0, 'claimed']]);
  });

  it('whose outage is over is told', () => {
    const steps = new Steps();
    steps.hear({ type: 'read', entries: [{ entry: named[0]!, known: claimed(0) }] });
    steps.hear({ type: 'unread', error: new Error('gone') });
    const found = new Map([['job 0', claimed(20_000)]]);
    const commands = steps.hear({ type: 'names-found', found }, { now: 20_000 });
    expect(only(commands, 'outage-end')).toEqual([{ type: 'outage-end', ms: 20_000 }]);
  });

  it('that is claimed is asked for every ten seconds, until its time is over', () => {
    const steps = new Steps();
    const entries = [{ entry: named[0]!, known: claimed(0) }];
    const first = steps.hear({ type: 'read', entries });
    expect(only(first, 'find')).toEqual([{ type: 'find', names: ['job 0'] }]);
    expect(wakeAt(first)).toBe(10_000);
    expect(only(steps.at(9_999), 'find')).toEqual([]);
    expect(only(steps.at(10_000), 'find')).toHaveLength(1);
    steps.at(295_000);
    expect(wakeAt(steps.at(295_001))).toBe(300_000);
    const found = new Map([['job 0', claimed(0)]]);
    expect(ends(steps.hear({ type: 'names-found', found }, { now: 299_999 }))).toEqual([]);
    expect(ends(steps.hear({ type: 'names-found', found }, { now: 300_000 }))).toEqual([
      [0, 'claimed'],
    ]);
    expect(steps.state).toMatchObject({ results: 1, claimed: new Map() });
  });

  it.each([
    ['accepted', accepted('a'), [], ['a']],
    ['given up', undefined, [0], []],
  ] as const)('that was claimed and is %s goes on from there', (_, known, calls, files) => {
    const steps = new Steps();
    steps.hear({ type: 'read', entries: [{ entry: named[0]!, known: claimed(0) }] });
    const found = new Map(known ? [['job 0', known]] : []);
    expect(submitted(steps.hear({ type: 'names-found', found }))).toEqual(calls);
    expect([...steps.state.running.values()].map(({ job }) => job.fileId)).toEqual(files);
  });

  it('whose claim is older than the clock says has no time left', () => {
    const steps = new Steps();
    steps.hear({ type: 'read', entries: [{ entry: named[0]!, known: claimed(900_000) }] });
    expect(steps.state.claimed.get(0)?.until).toBe(0);
  });
});
