import { describe, expect, it } from 'vitest';
import type { Seen } from '../../../../src/media/queue/steps/events.js';
import type { Entry } from '../../../../src/media/queue/steps/jobs.js';
import {
  ends,
  entriesOf,
  entryOf,
  only,
  recordOf,
  rules,
  Steps,
  wakeAt,
} from '../../../support/media/scheduler.js';

const error = new Error('trouble');

/** One video in progress since 0. */
function running(own: Entry = entryOf(0)): Steps {
  return follow(new Steps(), own);
}

function follow(steps: Steps, entry = entryOf(0)): Steps {
  steps.read(entry);
  const job = recordOf('file', entry.kind);
  steps.hear({ type: 'accepted', jobs: [job] });
  return steps;
}

function see(steps: Steps, seen: Seen, now: number) {
  return steps.hear({ type: 'checked', fileId: 'file', seen }, { now });
}

function checks(commands: ReturnType<Steps['hear']>): string[] {
  return only(commands, 'check').flatMap(({ fileIds }) => fileIds);
}

describe('the checks of a job', () => {
  it('come every ten seconds for a video, one at a time', () => {
    const steps = running();
    expect(checks(steps.at(9_999))).toEqual([]);
    expect(checks(steps.at(10_000))).toEqual(['file']);
    expect(checks(steps.at(30_000))).toEqual([]);
    expect(wakeAt(see(steps, { type: 'pending', text: '1' }, 30_000))).toBe(40_000);
  });

  it('come after 3, then up to 5 seconds for a text', () => {
    const steps = running(entryOf(0, { kind: 'audio' }));
    const gaps: number[] = [];
    let now = 0;
    for (let check = 0; check < 5; check++) {
      const at = wakeAt(steps.at(now)) ?? 0;
      gaps.push(at - now);
      now = at;
      steps.at(now);
      see(steps, { type: 'pending', text: String(check) }, now);
    }
    expect(gaps).toEqual([3_000, 3_750, 4_687.5, 5_000, 5_000]);
  });

  it('begin at once for a job of an earlier run', () => {
    const steps = new Steps();
    const known = { state: 'accepted', job: recordOf('file'), ageMs: 0 } as never; // as a journal has it
    const commands = steps.hear({ type: 'read', entries: [{ entry: entryOf(0), known }] });
    expect(checks(commands)).toEqual(['file']);
    expect(only(commands, 'hold')).toEqual([{ type: 'hold', fileId: 'file' }]);
    expect(steps.state.running.get(0)).toMatchObject({ startedAt: undefined, followedAt: 0 });
  });

  it('say nothing of a job that nobody follows', () => {
    const steps = running();
    const before = steps.state.running;
    steps.hear({ type: 'checked', fileId: 'other', seen: { type: 'failed', error } });
    expect(steps.state.running).toEqual(before);
  });

  it('take in files of others that fill the slots, every ten seconds', () => {
    const steps = new Steps();
    steps.world = { ...steps.world, freeSlots: 0, takenSlots: 20, otherFiles: ['x', 'y'] };
    expect(checks(steps.read(entryOf(0)))).toEqual(['x', 'y']);
    expect(checks(steps.at(9_999))).toEqual([]);
    expect(wakeAt(steps.at(9_999))).toBe(10_000);
    expect(checks(steps.at(10_000))).toEqual(['x', 'y']);
  });

  it('leave others alone when there is room, and its own files to themselves', () => {
    const steps = running();
    expect(checks(steps.at(1_000, { otherFiles: ['x'], freeSlots: 1 }))).toEqual([]);
    steps.world = { ...steps.world, freeSlots: 0, takenSlots: 20, otherFiles: ['x', 'file'] };
    expect(checks(steps.read(entryOf(1)))).toEqual(['x']);
  });
});

describe('a status', () => {
  it('of success saves the file and then yields it', () => {
    const steps = running();
    const commands = see(steps, { type: 'success', hasDownload: true }, 10_000);
    expect(only(commands, 'save')).toEqual([
      { type: 'save', job: recordOf('file'), entry: entryOf(0) },
    ]);
    expect(only(commands, 'release')).toEqual([
      { type: 'release', fileId: 'file', isCertain: true },
    ]);
    expect(steps.state.saving.has(0)).toBe(true);
    expect(ends(commands)).toEqual([]);
    expect(ends(steps.hear({ type: 'saved', index: 0 }))).toEqual([[0, 'file']]);
    expect(steps.state).toMatchObject({ results: 1, saving: new Map() });
  });

  it('of success without an address is checked once more', () => {
    const steps = running();
    const seen = { type: 'success', hasDownload: false } as const;
    expect(only(see(steps, seen, 10_000), 'save')).toEqual([]);
    expect(steps.state.running.get(0)?.missingDownloads).toBe(1);
    expect(only(see(steps, seen, 20_000), 'save')).toHaveLength(1);
  });

  it('of a file that cannot be saved is an error with its job', () => {
    const steps = running();
    see(steps, { type: 'success', hasDownload: true }, 10_000);
    const [result] = only(steps.hear({ type: 'saved', index: 0, error }), 'yield');
    expect(result?.end).toEqual({ type: 'error', job: recordOf('file'), error });
    expect(only(steps.hear({ type: 'saved', index: 0 }), 'yield')).toEqual([]);
  });

  it('of failure ends the job and frees its slot', () => {
    const steps = running();
    const commands = see(steps, { type: 'failed', error }, 10_000);
    expect(only(commands, 'yield')[0]?.end).toEqual({
      type: 'error',
      job: recordOf('file'),
      error,
    });
    expect(only(commands, 'release')[0]?.isCertain).toBe(true);
    expect(steps.state).toMatchObject({ results: 1, running: new Map() });
  });

  it('that is refused once, or for less than half a minute, ends nothing', () => {
    const steps = running();
    for (const now of [10_000, 20_000, 39_999]) {
      expect(
        ends(see(steps, { type: 'refused', error, about: now > 10_000 ? 'file' : 'key' }, now)),
      ).toEqual([]);
      expect(steps.state.running.get(0)?.checkAt).toBe(now + 10_000);
    }
    see(steps, { type: 'pending', text: '1' }, 40_000);
    expect(ends(see(steps, { type: 'refused', error, about: 'file' }, 50_000))).toEqual([]);
    expect(ends(see(steps, { type: 'refused', error, about: 'file' }, 79_999))).toEqual([]);
  });

  it.each([
    ['ends the job, and its slot stays in doubt', undefined],
    ['as gone ends the job, and its slot is free', 'file'],
  ] as const)('that is refused for half a minute %s', (_, about) => {
    const steps = running();
    see(steps, { type: 'refused', error, about }, 10_000);
    const commands = see(steps, { type: 'refused', error, about }, 40_000);
    expect(ends(commands)).toEqual([[0, 'error']]);
    expect(only(commands, 'release')[0]?.isCertain).toBe(about === 'file');
  });

  it('that is refused with the key fails what waits, once it stays', () => {
    const steps = running();
    steps.world = { ...steps.world, freeSlots: 0, takenSlots: 20 };
    steps.read(entryOf(1));
    expect(ends(see(steps, { type: 'refused', error, about: 'key' }, 10_000))).toEqual([]);
    expect(ends(see(steps, { type: 'refused', error, about: 'key' }, 40_000))).toEqual([
      [0, 'error'],
      [1, 'given-up'],
    ]);
  });

  it('that does not change for six hours ends the job as unknown', () => {
    const steps = running();
    see(steps, { type: 'pending', text: '50' }, 10_000);
    const last = 10_000 + rules.stallMs;
    expect(ends(see(steps, { type: 'pending', text: '50' }, last - 1))).toEqual([]);
    const commands = see(steps, { type: 'pending', text: '50' }, last);
    expect(only(commands, 'yield')[0]?.end).toMatchObject({ type: 'stalled', ms: rules.stallMs });
    expect(only(commands, 'release')[0]?.isCertain).toBe(false);
  });

  it('that changes goes on for as long as it does', () => {
    const steps = running();
    see(steps, { type: 'pending', text: '50' }, 10_000);
    see(steps, { type: 'pending', text: '51' }, rules.stallMs);
    expect(ends(see(steps, { type: 'pending', text: '51' }, 2 * rules.stallMs - 1))).toEqual([]);
  });

  it('that cannot be read is asked for less and less often', () => {
    const steps = running();
    const unclear = { type: 'unclear', error, retryAfterMs: undefined } as const;
    const gaps: number[] = [];
    let now = 0;
    for (let failure = 0; failure < 5; failure++) {
      see(steps, unclear, now);
      const at = steps.state.running.get(0)?.checkAt ?? 0;
      gaps.push(at - now);
      now = at;
      steps.at(now);
    }
    expect(gaps).toEqual([10_000, 20_000, 40_000, 60_000, 60_000]);
    see(steps, { type: 'pending', text: '' }, now);
    expect(steps.state.running.get(0)).toMatchObject({ failures: 0, failingSince: undefined });
  });

  it('that cannot be read is asked for when the service says', () => {
    const steps = running();
    const unclear = { type: 'unclear', error, retryAfterMs: 45_000 } as const;
    expect(wakeAt(see(steps, unclear, 0))).toBe(45_000);
  });

  it('that cannot be read for a day ends the job as unknown', () => {
    const steps = running();
    const unclear = { type: 'unclear', error, retryAfterMs: undefined } as const;
    see(steps, unclear, 5_000);
    steps.world = { ...steps.world, callAt: Number.POSITIVE_INFINITY };
    steps.read(entryOf(1));
    expect(ends(see(steps, unclear, 4_999 + rules.outageMs))).toEqual([]);
    const commands = see(steps, unclear, 5_000 + rules.outageMs);
    expect(only(commands, 'yield')[0]?.end).toMatchObject({ type: 'lost', ms: rules.outageMs });
    expect(only(commands, 'release')[0]?.isCertain).toBe(false);
    expect(steps.state.unsuccessfulSince).toBe(5_000);
  });
});

describe('the time of a job', () => {
  it('ends it as unknown, and its slot stays in doubt', () => {
    const steps = follow(new Steps({ timeoutMs: 25_000 }));
    steps.at(10_000);
    expect(wakeAt(steps.pending('file'))).toBe(20_000);
    steps.at(20_000);
    expect(wakeAt(steps.at(20_001))).toBe(25_000);
    const commands = steps.at(25_000);
    expect(only(commands, 'yield')[0]?.end).toEqual({
      type: 'timeout',
      job: recordOf('file'),
      ms: 25_000,
    });
    expect(only(commands, 'release')[0]?.isCertain).toBe(false);
    expect(steps.state.results).toBe(1);
  });

  it('ends with that of the queue', () => {
    const steps = follow(new Steps({ deadlineAt: 9_000 }));
    expect(wakeAt(steps.at(1))).toBe(9_000);
    const commands = steps.at(9_000);
    expect(ends(commands)).toEqual([[0, 'timeout']]);
    expect(only(commands, 'end')).toHaveLength(1);
  });

  it('ends what waits as well, and what another run has claimed', () => {
    const steps = new Steps({ deadlineAt: 9_000 });
    steps.world = { ...steps.world, callAt: 60_000 };
    const known = { state: 'claimed', ageMs: 0 } as never; // as a journal has it
    steps.hear({ type: 'read', entries: [{ entry: entryOf(5, { name: 'five' }), known }] });
    steps.read(...entriesOf(2));
    expect(ends(steps.at(8_999))).toEqual([]);
    expect(ends(steps.at(9_000))).toEqual([
      [0, 'late'],
      [1, 'late'],
      [5, 'claimed-late'],
    ]);
    expect(steps.state).toMatchObject({ results: 3, isDraining: true, isOver: true });
  });
});

describe('a slot that comes free', () => {
  it('ends the pause of refusals, but not one that the service asked for', () => {
    const steps = running();
    steps.at(60_000);
    steps.read(entryOf(1));
    steps.refuse('limit', { retryAfterMs: 400_000 });
    steps.finish('file');
    expect(steps.state.pausedUntil).toBe(460_000);
    const other = running();
    other.at(60_000);
    for (let refusal = 0; refusal < 5; refusal++) {
      other.read(entryOf(1 + refusal));
      other.refuse('limit');
      other.at(other.state.pausedUntil);
    }
    const refusedAt = other.state.refusedAt;
    other.finish('file');
    expect(other.state).toMatchObject({ refusals: 1, unsuccessfulSince: undefined });
    expect(other.state.pausedUntil).toBeLessThanOrEqual(refusedAt + 50_000);
  });
});
