import { describe, expect, it } from 'vitest';
import {
  ends,
  entriesOf,
  entryOf,
  only,
  rules,
  Steps,
  submitted,
  wakeAt,
} from '../../support/media/scheduler.js';

describe('a scheduler', () => {
  it('never changes a state that it was given', () => {
    const steps = new Steps();
    steps.read(...entriesOf(3));
    const before = steps.state;
    const copy = structuredClone(before);
    steps.accept('a', 'b', 'c');
    steps.at(10_000);
    expect(before).toEqual(copy);
    expect(steps.state).not.toHaveProperty('commands');
  });

  it('fails a job that breaks a rule, and submits the others', () => {
    const steps = new Steps();
    const problem = new Error('a rule');
    const [bad, good] = entriesOf(2);
    const commands = steps.hear({
      type: 'read',
      entries: [{ entry: bad!, problem }, { entry: good! }],
    });
    expect(only(commands, 'yield')).toEqual([
      { type: 'yield', entry: bad, end: { type: 'error', job: undefined, error: problem } },
    ]);
    expect(submitted(commands)).toEqual([1]);
  });

  it('ends once everything was read and is over', () => {
    const steps = new Steps();
    steps.read(entryOf(0));
    steps.accept('a');
    expect(only(steps.hear({ type: 'exhausted' }), 'end')).toEqual([]);
    expect(only(steps.finish('a'), 'end')).toEqual([]);
    const last = steps.hear({ type: 'saved', index: 0 });
    expect(only(last, 'end')).toEqual([{ type: 'end', isGivenUp: false }]);
    expect(only(last, 'wake')).toEqual([]);
    expect(steps.state.isOver).toBe(true);
    expect(only(steps.at(1), 'end')).toEqual([]);
  });

  it('does not wake for calls that it holds back when there is nothing left to submit', () => {
    const steps = new Steps();
    steps.read(entryOf(0));
    steps.accept('a');
    steps.hear({ type: 'exhausted' });
    steps.finish('a'); // its file is being saved
    steps.state = { ...steps.state, heldSince: 0 };
    const now = 2 * rules.unknownMs;
    expect(wakeAt(steps.at(now)) ?? Infinity).toBeGreaterThan(now + 1);
  });

  it('does not end before the input does, nor while jobs wait or are claimed', () => {
    const steps = new Steps();
    expect(only(steps.at(0), 'end')).toEqual([]);
    steps.world = { ...steps.world, callAt: 5_000 };
    steps.read(entryOf(0));
    expect(only(steps.hear({ type: 'exhausted' }), 'end')).toEqual([]);
    const other = new Steps();
    const known = { state: 'claimed', ageMs: 0 } as never; // as a journal has it
    other.hear({ type: 'read', entries: [{ entry: entryOf(0, { name: 'a' }), known }] });
    expect(only(other.hear({ type: 'exhausted' }), 'end')).toEqual([]);
  });

  it('ends at once when the input is empty', () => {
    expect(only(new Steps().hear({ type: 'exhausted' }), 'end')).toHaveLength(1);
  });

  it('submits nothing while it pauses, and goes on after that', () => {
    const steps = new Steps();
    steps.hear({ type: 'pause' });
    expect(submitted(steps.read(entryOf(0)))).toEqual([]);
    expect(only(steps.at(600_000), 'report-wait')).toEqual([]);
    expect(submitted(steps.hear({ type: 'resume' }))).toEqual([0]);
  });

  it('submits no more once it drains, and ends with what is in progress', () => {
    const steps = new Steps();
    steps.read(entryOf(0));
    steps.accept('a');
    steps.hear({ type: 'drain' });
    expect(submitted(steps.read(entryOf(1)))).toEqual([]);
    expect(only(steps.at(600_000), 'report-wait')).toEqual([]);
    steps.finish('a');
    const last = steps.hear({ type: 'saved', index: 0 });
    expect(only(last, 'end')).toHaveLength(1);
    expect(ends(last)).toEqual([[0, 'file']]);
  });

  it('does not end while a call is on its way', () => {
    const steps = new Steps();
    steps.read(entryOf(0));
    expect(only(steps.hear({ type: 'drain' }), 'end')).toEqual([]);
    expect(only(steps.refuse('unknown'), 'end')).toHaveLength(1);
  });

  it('wants to be asked again when a slot comes free, if jobs wait', () => {
    const steps = new Steps();
    steps.world = { ...steps.world, freeSlots: 0, takenSlots: 20, nextSlotAt: 33_000 };
    expect(wakeAt(steps.at(0))).toBeUndefined();
    expect(wakeAt(steps.read(entryOf(0)))).toBe(33_000);
  });

  it('counts the results that nobody has taken', () => {
    const steps = new Steps();
    const problem = new Error('a rule');
    steps.hear({ type: 'read', entries: [{ entry: entryOf(0), problem }] });
    expect(steps.state.results).toBe(1);
    steps.hear({ type: 'taken' });
    expect(steps.state.results).toBe(0);
  });
});

describe('what a scheduler tells', () => {
  /** One job waits for the rate limit. */
  function stuck(callAt: number): Steps {
    const steps = new Steps();
    steps.world = { ...steps.world, callAt };
    steps.read(entryOf(0));
    return steps;
  }

  it('is said each minute that it cannot call', () => {
    const steps = stuck(300_000);
    expect(only(steps.at(59_999), 'report-wait')).toEqual([]);
    expect(only(steps.at(60_000), 'report-wait')).toEqual([
      { type: 'report-wait', waitMs: 240_000 },
    ]);
    expect(wakeAt(steps.at(60_001))).toBe(120_000);
    expect(only(steps.at(120_000), 'report-wait')).toEqual([
      { type: 'report-wait', waitMs: 180_000 },
    ]);
  });

  it('is the longest of its reasons', () => {
    const steps = stuck(0);
    steps.refuse('limit', { retryAfterMs: 500_000 });
    expect(only(steps.at(60_000), 'report-wait')).toEqual([
      { type: 'report-wait', waitMs: 440_000 },
    ]);
    const full = stuck(0);
    full.accept('a');
    full.at(1_000, { freeSlots: 0, takenSlots: 20 });
    full.read(entryOf(1));
    expect(only(full.at(61_000), 'report-wait')).toEqual([{ type: 'report-wait', waitMs: 0 }]);
  });

  it('begins anew after a pause, and with each answer', () => {
    const steps = stuck(600_000);
    steps.at(50_000);
    steps.hear({ type: 'pause' });
    steps.hear({ type: 'resume' }, { now: 55_000 });
    expect(only(steps.at(109_999), 'report-wait')).toEqual([]);
    expect(only(steps.at(110_000), 'report-wait')).toHaveLength(1);
  });

  it('is nothing while a call is on its way, or nothing waits', () => {
    const steps = new Steps();
    steps.read(entryOf(0, { kind: 'audio' }), entryOf(1, { kind: 'audio' }));
    expect(only(steps.at(500_000), 'report-wait')).toEqual([]);
    const idle = new Steps();
    idle.at(0);
    expect(only(idle.at(500_000), 'report-wait')).toEqual([]);
  });

  it('goes on while only claims of other runs are waited for', () => {
    const steps = new Steps();
    const known = { state: 'claimed', ageMs: 0 } as never; // as a journal has it
    steps.hear({ type: 'read', entries: [{ entry: entryOf(0, { name: 'a' }), known }] });
    expect(only(steps.at(60_000), 'report-wait')).toHaveLength(1);
  });
});
