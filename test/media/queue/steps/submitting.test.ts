import { describe, expect, it } from 'vitest';
import type { QueueCommand } from '../../../../src/media/queue/steps/commands.js';
import {
  ends,
  entriesOf,
  entryOf,
  only,
  Steps,
  submitted,
  wakeAt,
} from '../../../support/media/scheduler.js';

const never = Number.NEGATIVE_INFINITY;

describe('a call', () => {
  it('carries as many videos as slots are free, longest first', () => {
    const steps = new Steps();
    const jobs = entriesOf(5, (index) => ({ minutes: [1, 3, 2, 3, 5][index]! }));
    steps.world = { ...steps.world, freeSlots: 4, takenSlots: 16 };
    expect(submitted(steps.read(...jobs))).toEqual([4, 1, 3, 2]);
    expect(steps.state.inFlight).toEqual({
      entries: [jobs[4], jobs[1], jobs[3], jobs[2]],
      slotsAfter: 20,
    });
    expect(steps.state).toMatchObject({ submitted: 4, submittedMinutes: 13, waiting: [jobs[0]] });
  });

  it('carries no more than `concurrency` allows', () => {
    const steps = new Steps({ concurrency: 3 });
    steps.read(...entriesOf(5));
    expect(steps.state.inFlight?.entries).toHaveLength(3);
    steps.accept('a', 'b', 'c');
    steps.at(60_000);
    expect(steps.state.inFlight).toBeUndefined();
    expect(steps.state.waiting).toHaveLength(2);
  });

  it('carries videos of one brand only', () => {
    const steps = new Steps();
    const brands = ['red', 'blue', 'red', undefined];
    const jobs = entriesOf(4, (index) => ({ brand: brands[index] }));
    expect(submitted(steps.read(...jobs))).toEqual([0, 2]);
  });

  it('carries one text, and no video beside it', () => {
    const steps = new Steps();
    const texts = [
      entryOf(0, { kind: 'audio', minutes: 9 }),
      entryOf(1, { kind: 'audio', minutes: 8 }),
    ];
    expect(submitted(steps.read(...texts, entryOf(2)))).toEqual([0]);
    expect(submitted(steps.accept('a'))).toEqual([1]);
    expect(submitted(steps.accept('b'))).toEqual([2]);
    expect(steps.state.nextVideosAt).toBe(50_000);
  });

  it('leaves texts out of a call with videos', () => {
    const steps = new Steps();
    expect(
      submitted(steps.read(entryOf(0, { minutes: 9 }), entryOf(1, { kind: 'audio' }))),
    ).toEqual([0]);
  });

  it('comes 50 seconds after the last one with videos', () => {
    const steps = new Steps();
    steps.read(entryOf(0));
    steps.accept('a');
    expect(wakeAt(steps.read(entryOf(1)))).toBe(10_000); // the check of the first
    steps.pending('a');
    expect(submitted(steps.at(49_999))).toEqual([]);
    expect(submitted(steps.at(50_000))).toEqual([1]);
  });

  it('waits for two free slots, for a while', () => {
    const steps = new Steps();
    steps.at(0, { freeSlots: 1, takenSlots: 19 });
    expect(submitted(steps.read(...entriesOf(3)))).toEqual([]);
    expect(steps.state.capacitySince).toBe(0);
    expect(wakeAt(steps.at(1))).toBe(50_000);
    expect(submitted(steps.at(20_000, { freeSlots: 2, takenSlots: 18 }))).toEqual([0, 1]);
    expect(steps.state.capacitySince).toBeUndefined();
  });

  it('waits for a second slot no longer than 50 seconds', () => {
    const steps = new Steps();
    steps.at(0, { freeSlots: 1, takenSlots: 19 });
    steps.read(...entriesOf(3));
    expect(submitted(steps.at(49_999))).toEqual([]);
    expect(submitted(steps.at(50_000))).toEqual([0]);
  });

  it('is worth it with the slots that come free in a minute, where processes share them', () => {
    const steps = new Steps();
    const shared = { freeSlots: 12, takenSlots: 8, othersSlots: 12 };
    const fewest = (commands: readonly QueueCommand[]) =>
      commands.flatMap((command) => (command.type === 'submit' ? command.atLeast : []));
    steps.at(0, shared);
    expect(fewest(steps.read(...entriesOf(60)))).toEqual([1]); // its first
    steps.hear({ type: 'trimmed', count: 1, askAgainMs: 3_000 });
    expect(fewest(steps.accept('a'))).toEqual([4]); // it asks soon again: the store alone knows
    steps.hear({ type: 'trimmed', count: 0, askAgainMs: 3_000 });
    expect(fewest(steps.at(2_999))).toEqual([]);
    expect(fewest(steps.at(3_000))).toEqual([4]);
    steps.hear({ type: 'trimmed', count: 0, askAgainMs: 3_000 });
    // Each sees to its own files first: what it gives back is free for all.
    expect(only(steps.at(600_000), 'check')).toEqual([{ type: 'check', fileIds: ['a'] }]);
    expect(fewest(steps.pending('a'))).toEqual([1]); // it must not starve
  });

  it('brings forward only the checks that are almost due, where processes share the slots', () => {
    const steps = new Steps();
    steps.at(0, { freeSlots: 12, takenSlots: 8, othersSlots: 12 });
    steps.read(...entriesOf(60));
    steps.hear({ type: 'trimmed', count: 1, askAgainMs: 3_000 });
    steps.accept('a');
    steps.hear({ type: 'trimmed', count: 0, askAgainMs: 3_000 });
    steps.at(600_000);
    steps.pending('a'); // and so it is asked again in ten seconds
    const ask = (now: number) => {
      steps.hear({ type: 'trimmed', count: 0, askAgainMs: 1 });
      return only(steps.at(now), 'check').length;
    };
    expect([ask(605_000), ask(608_000), ask(608_001)]).toEqual([0, 0, 1]);
  });

  it.each([
    ['only one job waits', { freeSlots: 1, takenSlots: 19 }, {}, 1],
    ['the service has one slot', { freeSlots: 1, takenSlots: 0 }, {}, 3],
    ['one job may be in progress', { freeSlots: 20 }, { concurrency: 1 }, 3],
  ])('waits for no second slot when %s', (_, world, rules, count) => {
    const steps = new Steps(rules);
    steps.world = { ...steps.world, ...world };
    expect(submitted(steps.read(...entriesOf(count)))).toEqual([0]);
  });

  it('forgets since when there was room once there is none, or nothing waits', () => {
    const steps = new Steps();
    steps.world = { ...steps.world, freeSlots: 1, takenSlots: 19 };
    steps.read(...entriesOf(2));
    expect(steps.state.capacitySince).toBe(0);
    steps.at(1_000, { freeSlots: 0, takenSlots: 20 });
    expect(steps.state.capacitySince).toBeUndefined();
    steps.at(2_000, { freeSlots: 1, takenSlots: 19 });
    expect(steps.state.capacitySince).toBe(2_000);
    const idle = new Steps();
    idle.at(0);
    expect(idle.state.capacitySince).toBeUndefined();
  });

  it('is not made while another one is on its way', () => {
    const steps = new Steps();
    steps.read(entryOf(0, { kind: 'audio' }));
    expect(submitted(steps.read(entryOf(1, { kind: 'audio' })))).toEqual([]);
    expect(wakeAt(steps.at(1_000))).toBeUndefined();
  });

  it('is not made before the rate limit lets it through', () => {
    const steps = new Steps();
    steps.world = { ...steps.world, callAt: 7_000 };
    const commands = steps.read(entryOf(0, { kind: 'audio' }));
    expect(submitted(commands)).toEqual([]);
    expect(wakeAt(commands)).toBe(7_000);
    expect(submitted(steps.at(7_000))).toEqual([0]);
  });

  it('is not made while nobody takes the results', () => {
    const steps = new Steps({ maxResults: 2 });
    const problem = new Error('a rule');
    const entries = entriesOf(2).map((entry) => ({ entry, problem }));
    expect(ends(steps.hear({ type: 'read', entries }))).toEqual([
      [0, 'error'],
      [1, 'error'],
    ]);
    expect(submitted(steps.read(entryOf(2)))).toEqual([]);
    expect(submitted(steps.hear({ type: 'taken' }))).toEqual([2]);
  });

  it('waits for the next jobs of a stream, for a second', () => {
    const steps = new Steps();
    steps.hear({ type: 'reading' });
    expect(submitted(steps.read(entryOf(0)))).toEqual([]);
    steps.hear({ type: 'read', entries: [{ entry: entryOf(1) }] }, { now: 500 });
    expect(wakeAt(steps.at(501))).toBe(1_500);
    expect(submitted(steps.at(1_500))).toEqual([0, 1]);
  });

  it('waits for no more of a stream that has ended, or once it is full', () => {
    const steps = new Steps();
    steps.hear({ type: 'reading' });
    steps.read(entryOf(0));
    expect(submitted(steps.hear({ type: 'exhausted' }))).toEqual([0]);
    const full = new Steps();
    full.world = { ...full.world, freeSlots: 2, takenSlots: 18 };
    full.hear({ type: 'reading' });
    expect(submitted(full.read(...entriesOf(2)))).toEqual([0, 1]);
  });

  it('gives back the jobs that found no slot', () => {
    const steps = new Steps();
    steps.read(...entriesOf(5, (index) => ({ minutes: 5 - index })));
    steps.hear({ type: 'trimmed', count: 3, askAgainMs: 3_000 });
    expect(steps.state).toMatchObject({ submitted: 3, submittedMinutes: 12 });
    expect(steps.state.inFlight).toMatchObject({ slotsAfter: 3 });
    expect(steps.state.inFlight?.entries.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(steps.state.waiting.map(({ index }) => index)).toEqual([3, 4]);
    expect(steps.state.pausedUntil).toBe(never);
  });

  it('is made again soon when no slot was free at all', () => {
    const steps = new Steps();
    steps.read(...entriesOf(2));
    const commands = steps.hear({ type: 'trimmed', count: 0, askAgainMs: 3_000 });
    expect(steps.state.inFlight).toBeUndefined();
    expect(wakeAt(commands)).toBe(3_000);
    expect(submitted(steps.at(3_000))).toEqual([0, 1]);
  });

  it('keeps all its jobs when all found a slot', () => {
    const steps = new Steps();
    steps.read(...entriesOf(2));
    steps.hear({ type: 'trimmed', count: 2, askAgainMs: 3_000 });
    expect(steps.state.inFlight?.entries).toHaveLength(2);
    expect(steps.state.submitted).toBe(2);
    const idle = new Steps();
    idle.hear({ type: 'trimmed', count: 0, askAgainMs: 3_000 });
    expect(idle.state.pausedUntil).toBe(never);
  });
});

describe('the checks before a call', () => {
  /** Two videos and a text in progress, more that wait than there is room for, and a call due. */
  function due(checksCount = false): Steps {
    const steps = new Steps();
    steps.world = { ...steps.world, checksCount };
    steps.read(...entriesOf(2));
    steps.accept('a', 'b');
    steps.at(0, { freeSlots: 2, takenSlots: 18 });
    steps.read(...entriesOf(5, (index) => ({ index: 10 + index })));
    return steps;
  }

  it('ask for all videos that were not checked lately, and the call waits for them', () => {
    const steps = due();
    steps.at(41_000);
    steps.pending('a');
    steps.pending('b');
    const commands = steps.at(50_000);
    expect(only(commands, 'check')).toEqual([{ type: 'check', fileIds: ['a', 'b'] }]);
    expect(submitted(commands)).toEqual([]);
    expect(submitted(steps.pending('a'))).toEqual([]);
    expect(submitted(steps.pending('b'))).toEqual([10, 11]);
  });

  it('are waited for no longer than 5 seconds', () => {
    const steps = due();
    steps.at(41_000);
    steps.pending('a');
    steps.pending('b');
    expect(wakeAt(steps.at(50_000))).toBe(55_000);
    expect(submitted(steps.at(54_999))).toEqual([]);
    expect(submitted(steps.at(55_000))).toEqual([10, 11]);
  });

  it('are left out when they were made a moment ago', () => {
    const steps = due();
    steps.at(48_000);
    steps.pending('a');
    steps.pending('b');
    expect(submitted(steps.at(50_000))).toEqual([10, 11]);
  });

  it('are left out when checks count towards the rate limit', () => {
    const steps = due(true);
    steps.at(41_000);
    steps.pending('a');
    steps.pending('b');
    expect(submitted(steps.at(50_000))).toEqual([10, 11]);
  });

  it('are left out when the call carries all jobs that wait', () => {
    const steps = due();
    steps.at(41_000, { freeSlots: 5, takenSlots: 15 });
    steps.pending('a');
    steps.pending('b');
    expect(submitted(steps.at(50_000))).toHaveLength(5);
  });
});

describe('the caps of the caller', () => {
  it('end the jobs beyond `maxJobs`', () => {
    const steps = new Steps({ maxJobs: 2 });
    const commands = steps.read(...entriesOf(4));
    expect(submitted(commands)).toEqual([0, 1]);
    expect(ends(commands)).toEqual([
      [2, 'capped'],
      [3, 'capped'],
    ]);
    expect(steps.state).toMatchObject({ results: 2, waiting: [] });
  });

  it('end the jobs beyond `maxMinutes`, and smaller ones go', () => {
    const steps = new Steps({ maxMinutes: 6 });
    const commands = steps.read(...entriesOf(4, (index) => ({ minutes: [4, 3, 2, 1][index]! })));
    expect(submitted(commands)).toEqual([0, 2]);
    expect(ends(commands)).toEqual([
      [1, 'capped'],
      [3, 'capped'],
    ]);
  });

  it('count no job that was refused', () => {
    const steps = new Steps({ maxJobs: 2 });
    steps.read(...entriesOf(2));
    steps.refuse('limit');
    expect(steps.state).toMatchObject({ submitted: 0, submittedMinutes: 0 });
    expect(submitted(steps.at(3_600_000))).toEqual([0, 1]);
  });

  it('are asked again at once when a whole call is beyond them', () => {
    const steps = new Steps({ maxJobs: 0 });
    steps.world = { ...steps.world, freeSlots: 2, takenSlots: 18 };
    const commands = steps.read(...entriesOf(3));
    expect(ends(commands)).toHaveLength(2);
    expect(wakeAt(commands)).toBe(1); // never in the same moment
    expect(ends(steps.at(1))).toEqual([[2, 'capped']]);
  });
});
