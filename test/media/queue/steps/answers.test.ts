import { describe, expect, it } from 'vitest';
import {
  ends,
  entriesOf,
  entryOf,
  only,
  recordOf,
  rules,
  Steps,
  submitted,
  wakeAt,
} from '../../../support/media/scheduler.js';

/** A call with so many jobs is on its way, and so many slots are taken by others. */
function calling(count: number, others = 0, own: Partial<typeof rules> = {}): Steps {
  const steps = new Steps(own);
  steps.world = { ...steps.world, freeSlots: 20 - others, takenSlots: others };
  steps.read(...entriesOf(count));
  return steps;
}

/** The next call, once its time has come. */
function next(steps: Steps): number[] {
  const at = Math.max(steps.world.now, steps.state.pausedUntil, steps.state.nextVideosAt);
  return submitted(steps.at(at));
}

describe('a call that is accepted', () => {
  it('has its jobs followed, and its slots held', () => {
    const steps = calling(2, 3);
    const commands = steps.accept('a', 'b');
    expect(only(commands, 'assign-slots')).toEqual([
      { type: 'assign-slots', fileIds: ['a', 'b'], uncertain: 0 },
    ]);
    expect(only(commands, 'slots')).toEqual([
      { type: 'slots', evidence: 'accepted', slotsAfter: 5 },
    ]);
    expect([...steps.state.running.values()].map(({ job }) => job.fileId)).toEqual(['a', 'b']);
    expect(steps.state.running.get(1)).toMatchObject({ startedAt: 0, checkAt: 10_000 });
    expect(steps.state).toMatchObject({ inFlight: undefined, hasConnected: true, submitted: 2 });
  });

  it('fails the jobs without an id, whose slots stay in doubt', () => {
    const steps = calling(3);
    const error = new Error('no id');
    const jobs = [recordOf('a'), null, recordOf('c')];
    const commands = steps.hear({ type: 'accepted', jobs, error });
    expect(only(commands, 'assign-slots')).toEqual([
      { type: 'assign-slots', fileIds: ['a', 'c'], uncertain: 1 },
    ]);
    expect(only(commands, 'yield')).toMatchObject([
      { entry: { index: 1 }, end: { error, job: undefined } },
    ]);
  });

  it('proves nothing of the slots when it has no ids at all', () => {
    const steps = calling(2);
    const commands = steps.hear({ type: 'accepted', jobs: [null, null] });
    expect(only(commands, 'slots')).toEqual([]);
    expect(ends(commands)).toHaveLength(2);
  });

  it('ends what was learned from refusals', () => {
    const steps = calling(1);
    steps.refuse('limit');
    expect(next(steps)).toEqual([0]);
    expect(steps.state).toMatchObject({ refusals: 1, unsuccessfulSince: 0 });
    steps.accept('a');
    expect(steps.state).toMatchObject({
      refusals: 0,
      unsuccessfulSince: undefined,
      evidence: undefined,
      maxPerCall: Number.POSITIVE_INFINITY,
    });
  });

  it.each([
    ['accepted', { type: 'accepted', jobs: [recordOf('a')] }],
    ['names-taken', { type: 'names-taken', taken: new Map() }],
    [
      'refused',
      {
        type: 'refused',
        refusal: {
          error: 1,
          kind: 'unknown',
          answer: '',
          retryAfterMs: undefined,
          mayBeHalfWay: false,
        },
      },
    ],
  ] as const)('is none when no call is on its way: %s', (_, event) => {
    const steps = new Steps();
    const before = steps.state;
    expect(steps.hear(event)).toEqual([]);
    expect(steps.state).toEqual({ ...before, reportedAt: 0 });
  });
});

describe('a refusal of the limit', () => {
  it('puts the jobs back and makes a pause', () => {
    const steps = calling(6);
    const commands = steps.refuse('limit');
    expect(only(commands, 'assign-slots')).toEqual([
      { type: 'assign-slots', fileIds: [], uncertain: 0 },
    ]);
    expect(only(commands, 'slots')).toEqual([
      { type: 'slots', evidence: 'refused', slotsAfter: 6 },
    ]);
    expect(ends(commands)).toEqual([]);
    expect(steps.state).toMatchObject({ refusals: 1, refusedAt: 0, pausedUntil: 50_000 });
    expect(steps.state.waiting).toHaveLength(6);
  });

  it('says nothing of the slots when so few jobs fit any, unless it comes again and again', () => {
    const steps = calling(5);
    expect(only(steps.refuse('limit'), 'slots')).toEqual([]);
    next(steps);
    expect(only(steps.refuse('limit'), 'slots')).toEqual([]);
    next(steps);
    expect(only(steps.refuse('limit'), 'slots')).toHaveLength(1);
  });

  it('is waited out for as long as the service asks', () => {
    const steps = calling(1);
    expect(wakeAt(steps.refuse('limit', { retryAfterMs: 20_000 }))).toBe(20_000);
    expect(steps.state).toMatchObject({ askedUntil: 20_000, pausedUntil: 20_000 });
  });

  it('is waited out for five seconds at least: a service may ask for none', () => {
    const steps = calling(1);
    expect(wakeAt(steps.refuse('limit', { retryAfterMs: 0 }))).toBe(5_000);
  });

  it('is no refusal without end when nothing waited in between, or the caller made a pause', () => {
    const steps = calling(1);
    steps.refuse('limit');
    next(steps);
    steps.refuse('rejected');
    steps.at(rules.outageMs + 60_000);
    steps.read(entryOf(1));
    next(steps);
    expect(ends(steps.refuse('limit'))).toEqual([]);
    steps.hear({ type: 'pause' });
    steps.at(2 * rules.outageMs + 120_000);
    steps.hear({ type: 'resume' });
    next(steps);
    expect(ends(steps.refuse('limit'))).toEqual([]);
  });

  it('is waited out longer each time, up to five minutes', () => {
    const steps = calling(1);
    const pauses: number[] = [];
    for (let refusal = 0; refusal < 12; refusal++) {
      steps.refuse('limit');
      pauses.push(steps.state.pausedUntil - steps.world.now);
      next(steps);
    }
    expect(pauses.slice(0, 5)).toEqual([50_000, 50_000, 50_000, 75_000, 112_500]);
    expect(pauses.slice(-3)).toEqual([300_000, 300_000, 300_000]);
  });

  it('fails everything after a day without an answer that brought anything', () => {
    const steps = calling(1);
    steps.refuse('limit');
    steps.at(rules.outageMs - 1);
    expect(ends(steps.refuse('limit'))).toEqual([]);
    steps.at(rules.outageMs + 400_000);
    expect(ends(steps.refuse('limit'))).toEqual([[0, 'given-up']]);
    expect(ends(steps.read(entryOf(1)))).toEqual([[1, 'given-up']]);
  });
});

describe('a refusal of several jobs', () => {
  it('ends them all: any of them may have been made before the one at fault', () => {
    const steps = calling(4);
    const commands = steps.refuse('rejected', { mayBeHalfWay: true });
    expect(only(commands, 'assign-slots')).toEqual([
      { type: 'assign-slots', fileIds: [], uncertain: 4 },
    ]);
    expect(ends(commands)).toHaveLength(4);
    expect(only(commands, 'slots')).toEqual([]);
    expect(steps.state).toMatchObject({ submitted: 4, maxPerCall: 1, evidence: { count: 2 } });
  });

  it('of the limit tells how many slots there are, too', () => {
    const commands = calling(4).refuse('limit', { mayBeHalfWay: true });
    expect(only(commands, 'slots')).toEqual([
      { type: 'slots', evidence: 'refused', slotsAfter: 4 },
    ]);
    expect(ends(commands)).toHaveLength(4);
  });

  it('lets the next one go alone, and the calls after it grow', () => {
    const steps = calling(20);
    steps.refuse('rejected', { mayBeHalfWay: true });
    const sizes: number[] = [];
    steps.state = { ...steps.state, results: 0 };
    steps.hear({ type: 'pause' });
    steps.read(...entriesOf(20, (index) => ({ index: 20 + index })));
    let commands = steps.hear({ type: 'resume' }, { now: 60_000 });
    for (let call = 0; call < 4; call++) {
      sizes.push(submitted(commands).length);
      steps.accept(...submitted(commands).map(String));
      steps.state = { ...steps.state, running: new Map() };
      commands = steps.at(steps.state.nextVideosAt);
    }
    expect(sizes).toEqual([1, 2, 4, 8]);
  });

  it('goes again in a smaller call where none was made', () => {
    const steps = calling(5);
    expect(ends(steps.refuse('rejected'))).toEqual([]);
    expect(next(steps)).toEqual([0, 1, 2]);
    steps.refuse('rejected');
    expect(next(steps)).toEqual([0, 1]);
    steps.refuse('rejected');
    expect(next(steps)).toEqual([0]);
    expect(ends(steps.refuse('rejected'))).toEqual([[0, 'error']]);
  });
});

describe('a suspect', () => {
  it('goes alone, and the others right after it', () => {
    const steps = new Steps();
    const needs = ['brand red'];
    expect(submitted(steps.read(...entriesOf(3, () => ({ needs }))))).toEqual([0]);
    expect(submitted(steps.accept('a'))).toEqual([1, 2]);
  });

  it('is what is longer than all that were accepted', () => {
    const steps = new Steps();
    const lengths = [5, 3, 2];
    expect(
      submitted(
        steps.read(
          ...entriesOf(3, (index) => ({ duration: lengths[index]!, minutes: lengths[index]! })),
        ),
      ),
    ).toEqual([0]);
    expect(submitted(steps.accept('a'))).toEqual([1, 2]);
  });

  it('does not join the call of others', () => {
    const steps = new Steps();
    steps.read(entryOf(0, { minutes: 9 }), entryOf(1, { needs: ['model x'] }), entryOf(2));
    expect(steps.state.inFlight!.entries.map(({ index }) => index)).toEqual([0, 2]);
  });
});

describe('a refusal of one job', () => {
  it('is for all once five jobs alone got the same answer', () => {
    const steps = new Steps();
    for (let index = 0; index < 5; index++) {
      steps.read(entryOf(index));
      next(steps);
      steps.refuse('rejected');
      expect(steps.state.refusal === undefined).toBe(index < 4);
    }
    expect(ends(steps.read(entryOf(9)))).toEqual([[9, 'given-up']]);
  });

  it('counts anew after another answer', () => {
    const steps = new Steps();
    for (let index = 0; index < 6; index++) {
      steps.read(entryOf(index));
      next(steps);
      steps.refuse('rejected', { answer: index === 3 ? 'other' : 'no' });
    }
    expect(steps.state.refusal).toBeUndefined();
    expect(steps.state.evidence).toEqual({ answer: 'no', count: 2 });
  });

  it('may be about the slots while others are taken that were not proven', () => {
    const steps = calling(1, 10);
    const commands = steps.refuse('rejected');
    expect(ends(commands)).toEqual([]);
    expect(only(commands, 'slots')).toEqual([
      { type: 'slots', evidence: 'maybe-full', slotsAfter: 11 },
    ]);
    expect(steps.state.pausedUntil).toBe(50_000);
  });

  it('in doubt sends it later, after the others', () => {
    const steps = calling(1, 10);
    steps.refuse('rejected');
    steps.read(entryOf(1));
    expect(steps.state.waiting).toEqual([entryOf(1), entryOf(0, { refusals: 1 })]);
  });

  it('is about the jobs when so many slots are proven, or no others are taken', () => {
    const proven = calling(1, 10);
    proven.world = { ...proven.world, maxAcceptedSlots: 11 };
    expect(ends(proven.refuse('rejected'))).toEqual([[0, 'error']]);
    expect(ends(calling(1).refuse('rejected'))).toEqual([[0, 'error']]);
    const unproven = calling(1, 10);
    unproven.world = { ...unproven.world, maxAcceptedSlots: 10 };
    expect(ends(unproven.refuse('rejected'))).toEqual([]);
  });
});

describe('another failure of a call', () => {
  it('that is about a brand kit fails all jobs with it, and no others', () => {
    const steps = new Steps();
    steps.read(entryOf(0, { brand: 'red' }), entryOf(1, { brand: 'red' }), entryOf(2));
    expect(ends(steps.refuse('rejected-call'))).toEqual([
      [0, 'error'],
      [1, 'error'],
    ]);
    expect(steps.state.waiting).toHaveLength(1);
    expect(steps.state.refusal).toBeUndefined();
  });

  it('that only speaks of a brand kit is about its job alone', () => {
    const steps = calling(1);
    steps.read(entryOf(1));
    expect(ends(steps.refuse('rejected-call'))).toEqual([[0, 'error']]);
    expect(steps.state.waiting).toHaveLength(1);
  });

  it('that is about the key fails everything at once', () => {
    const steps = new Steps();
    steps.world = { ...steps.world, freeSlots: 2, takenSlots: 18 };
    steps.read(...entriesOf(3));
    expect(ends(steps.refuse('rejected-client'))).toEqual([
      [0, 'error'],
      [1, 'error'],
      [2, 'given-up'],
    ]);
    expect(steps.state.submitted).toBe(0);
  });

  it('that was not sent fails everything before the first answer', () => {
    const steps = calling(2);
    expect(ends(steps.refuse('not-sent'))).toHaveLength(2);
    expect(steps.state.refusal).toBeDefined();
  });

  it('that was not sent is tried again later, less and less often', () => {
    const steps = calling(1);
    steps.refuse('limit');
    next(steps);
    const pauses: number[] = [];
    for (let refusal = 0; refusal < 6; refusal++) {
      expect(ends(steps.refuse('not-sent'))).toEqual([]);
      expect(steps.state.nextVideosAt).toBe(Number.NEGATIVE_INFINITY);
      expect(steps.state.refusedAt).toBe(steps.world.now);
      pauses.push(steps.state.pausedUntil - steps.world.now);
      next(steps);
    }
    expect(pauses).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });

  it('that may have been accepted fails its jobs, and keeps their slots in doubt', () => {
    const steps = calling(9);
    const commands = steps.refuse('unknown');
    expect(only(commands, 'assign-slots')).toEqual([
      { type: 'assign-slots', fileIds: [], uncertain: 9 },
    ]);
    expect(ends(commands)).toHaveLength(9);
    expect(steps.state).toMatchObject({ submitted: 9, maxPerCall: 3, pausedUntil: 50_000 });
    steps.read(...entriesOf(9, (index) => ({ index: 20 + index })));
    expect(next(steps)).toHaveLength(3);
  });
});
