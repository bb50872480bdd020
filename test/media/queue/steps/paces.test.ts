import { describe, expect, it } from 'vitest';
import { hasLearned, sizesOf, spreadOf } from '../../../../src/media/queue/steps/paces.js';
import { entriesOf, entryOf, Steps, submitted, wakeAt } from '../../../support/media/scheduler.js';

/** Finishes thirty jobs, ten of each format, of one minute each: by the seconds that they take. */
function learned(seconds: Readonly<Record<string, number>>, jobs = 30): Steps {
  const steps = new Steps();
  const formats = Object.keys(seconds);
  const format = (index: number) => formats[index % formats.length]!;
  for (let index = 0; index < jobs; index++) {
    const entry = entryOf(index, { format: format(index) });
    const fileId = `file ${index}`;
    const job = { fileId, kind: 'video' } as const;
    const startedAt = index * 1_000_000;
    steps.hear({ type: 'read', entries: [{ entry }] }, { now: startedAt });
    steps.hear({ type: 'accepted', jobs: [job] });
    const endedAt = startedAt + seconds[format(index)]! * 1_000;
    steps.hear(
      { type: 'checked', fileId, seen: { type: 'pending', text: '' } },
      { now: endedAt - 1 },
    );
    steps.hear(
      { type: 'checked', fileId, seen: { type: 'success', hasDownload: true } },
      { now: endedAt + 1 },
    );
    steps.hear({ type: 'saved', fileId });
    steps.hear({ type: 'taken' });
  }
  steps.hear({ type: 'wake' }, { now: jobs * 1_000_000 });
  return steps;
}

describe('the pace of jobs', () => {
  it('is known after thirty files, not before', () => {
    expect(hasLearned(learned({ idea: 60 }, 29).state)).toBe(false);
    expect(hasLearned(learned({ idea: 60 }).state)).toBe(true);
  });

  it('orders by minutes until then', () => {
    const sizeOf = sizesOf(learned({ idea: 60 }, 29).state);
    expect(sizeOf(entryOf(0, { minutes: 3 }))).toBe(3);
  });

  it('is learned for each format', () => {
    const sizeOf = sizesOf(learned({ idea: 60, url: 240, audio: 10 }).state);
    const seconds = (format: string) => sizeOf(entryOf(0, { minutes: 2, format })) / 1_000;
    expect(seconds('idea')).toBeGreaterThan(115);
    expect(seconds('idea')).toBeLessThan(125);
    expect(seconds('url')).toBeGreaterThan(450);
    expect(seconds('url')).toBeLessThan(490);
    expect(seconds('audio')).toBeGreaterThan(19);
    expect(seconds('audio')).toBeLessThan(22);
  });

  it('is that of all the others for a format that is new', () => {
    const sizeOf = sizesOf(learned({ idea: 50, url: 200 }).state);
    expect(sizeOf(entryOf(0, { format: 'script' })) / 1_000).toBeCloseTo(100, 0);
  });

  it('takes a file to be finished half way between two checks', () => {
    const steps = new Steps();
    steps.read(entryOf(0));
    steps.accept('file');
    steps.hear(
      { type: 'checked', fileId: 'file', seen: { type: 'pending', text: '' } },
      { now: 20_000 },
    );
    steps.hear(
      { type: 'checked', fileId: 'file', seen: { type: 'success', hasDownload: true } },
      { now: 30_000 },
    );
    expect(Math.exp(steps.state.paces.get('idea')!.sum)).toBeCloseTo(25_000);
  });

  it('counts a file once whose address comes a check later', () => {
    const steps = new Steps();
    steps.read(entryOf(0));
    steps.accept('file');
    for (const now of [10_000, 20_000]) {
      const seen = { type: 'success', hasDownload: now > 10_000 } as const;
      steps.hear({ type: 'checked', fileId: 'file', seen }, { now });
    }
    expect(steps.state.paces.get('idea')!.count).toBe(1);
  });

  it.each([
    ['whose minutes are not known', { minutes: 0 }, false],
    ['of an earlier run', {}, true],
  ])('is not learned from a job %s', (_, more, isRecalled) => {
    const steps = new Steps();
    const entry = entryOf(0, more);
    const job = { fileId: 'file', kind: 'video' } as const;
    const known = { state: 'accepted', job, status: undefined, ageMs: 0 } as never; // as a journal has it
    steps.hear({ type: 'read', entries: [{ entry, known: isRecalled ? known : undefined }] });
    steps.accept('file');
    steps.hear(
      { type: 'checked', fileId: 'file', seen: { type: 'success', hasDownload: true } },
      { now: 60_000 },
    );
    expect(steps.state.paces.size).toBe(0);
  });

  it('is as spread as the files have shown', () => {
    expect(spreadOf(learned({ idea: 60 }).state.paces)).toBeCloseTo(0.0919, 3);
    expect(spreadOf(learned({ idea: 60, url: 240 }).state.paces)).toBeLessThan(0.1);
    const mixed = new Map([['idea', { count: 40, sum: 0, squares: 40 }]]);
    expect(spreadOf(mixed)).toBeCloseTo(0.977, 2);
    const exact = new Map([['idea', { count: 100_000, sum: 0, squares: 0 }]]);
    expect(spreadOf(exact)).toBe(0.03);
  });
});

describe('the jobs that wait', () => {
  it('go by the time that they are likely to take, longest first', () => {
    const steps = learned({ idea: 60, url: 240 });
    const jobs = entriesOf(4, (index) => ({
      index: 100 + index,
      minutes: [4, 2, 3, 1][index]!,
      format: ['idea', 'url', 'url', 'idea'][index]!,
    }));
    expect(submitted(steps.read(...jobs))).toEqual([102, 101, 100, 103]);
  });

  it('are put in order again with the thirtieth file', () => {
    const steps = learned({ idea: 60, url: 240 }, 29);
    const last = entryOf(50, { format: 'url' });
    steps.read(last);
    steps.accept('last');
    const waiting = [
      entryOf(51, { minutes: 2, format: 'idea' }),
      entryOf(52, { minutes: 1, format: 'url' }),
    ];
    steps.hear({ type: 'pause' });
    steps.read(...waiting);
    expect(steps.state.waiting.map(({ index }) => index)).toEqual([51, 52]);
    steps.at(steps.world.now + 240_000);
    steps.finish('last');
    expect(steps.state.waiting.map(({ index }) => index)).toEqual([52, 51]);
  });
});

describe('the time of a call', () => {
  /** Twenty jobs, half of them just begun, and more that wait; the pace is known. */
  function busy(runningFor: number, free: number): { steps: Steps; now: number } {
    const steps = learned({ idea: 300 });
    const start = steps.world.now;
    const running = entriesOf(20 - free, (index) => ({ index: 100 + index }));
    steps.read(...running);
    steps.accept(...running.map(({ index }) => `file ${index}`));
    const now = start + runningFor;
    steps.hear({ type: 'wake' }, { now, freeSlots: free, takenSlots: 20 - free, callAt: now });
    return { steps, now };
  }

  const more = entriesOf(30, (index) => ({ index: 200 + index }));

  it('is now when no file is about to be finished', () => {
    const { steps } = busy(100_000, 3);
    expect(submitted(refreshed(steps, steps.read(...more)))).toHaveLength(3);
  });

  it('is later when one is about to be, for a while', () => {
    const { steps, now } = busy(295_000, 3);
    expect(wakeAt(steps.read(...more))).toBe(now + 2_000);
    expect(steps.state.flight).toBeUndefined();
    expect(wakeAt(steps.at(now + 49_000))).toBe(now + 50_000);
    refreshed(steps, steps.at(now + 50_000));
    expect(steps.state.flight?.entries).toHaveLength(3);
  });

  it('is now when many slots are free', () => {
    const { steps } = busy(270_000, 12);
    refreshed(steps, steps.read(...more));
    expect(steps.state.flight?.entries).toHaveLength(12);
  });

  it('is not put off by a job that takes far too long', () => {
    const { steps } = busy(800_000, 3);
    refreshed(steps, steps.read(...more));
    expect(steps.state.flight?.entries).toHaveLength(3);
  });

  it('is never before the rate limit lets it through', () => {
    const { steps, now } = busy(100_000, 3);
    steps.world = { ...steps.world, callAt: now + 40_000 };
    expect(wakeAt(steps.read(...more))).toBe(now + 40_000);
  });
});

/** Answers the checks that come before a call: all are still in progress. */
function refreshed(steps: Steps, commands: ReturnType<Steps['hear']>): ReturnType<Steps['hear']> {
  const files = commands.flatMap((command) => (command.type === 'check' ? command.fileIds : []));
  let last = commands;
  for (const fileId of files) {
    last = steps.pending(fileId);
  }
  return last;
}
