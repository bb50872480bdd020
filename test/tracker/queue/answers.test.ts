import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answered, delayOf } from '../../../src/tracker/queue/answers.js';
import { type Entry, Phase, type Queue } from '../../../src/tracker/queue/state.js';
import { NOW, addStored, idsIn, recordOf, unitQueue } from '../../support/tracker/queue.js';

// Without jitter a pause is what it is.
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A queue that waits for the answer to one event. */
function sending(changes: Partial<Queue> = {}, ofEntry: Partial<Entry> = {}, tries = 0) {
  const queue = unitQueue({ room: 59_000, ...changes });
  const entry = addStored(queue, 'a', { phase: Phase.Sent, size: 1000, ...ofEntry }, { tries });
  return { queue, entry };
}

/** What becomes of an event: the reason of its end, or that it waits. */
const fateOf = (
  status: number,
  changes: Partial<Queue> = {},
  ofEntry: Partial<Entry> = {},
  tries = 0,
) => {
  const { queue, entry } = sending(changes, ofEntry, tries);
  answered(queue, entry, { status });
  const [settled] = queue.of('finish');
  return settled ? (settled[1] ?? 'delivered') : entry.phase === Phase.Waiting && 'waits';
};

describe('the end of an event', () => {
  it.each([
    [200, 'delivered'],
    [400, 'rejected'],
    [402, 'rejected'],
    [409, 'rejected'],
    [413, 'rejected'],
    [422, 'rejected'],
    [428, 'rejected'],
    [449, 'rejected'],
    [499, 'rejected'],
    [401, 'waits'],
    [403, 'waits'],
    [404, 'waits'],
    [408, 'waits'],
    [429, 'waits'],
    [302, 'waits'],
    [500, 'waits'],
    [503, 'waits'],
    [0, 'waits'],
    [-1, 'unconfirmed'],
  ])('after %i: %s', (status, fate) => {
    expect(fateOf(status)).toBe(fate);
  });
  it('leaves a tombstone, and gives its bytes back', () => {
    const { queue, entry } = sending({ failures: 3, unanswered: 2 });
    answered(queue, entry, { status: 200 });
    expect(queue.calls).toEqual([
      ['deleteRecord', 'a'],
      ['finish', 'a', undefined],
    ]);
    expect([queue.room, queue.failures, queue.unanswered, idsIn(queue)]).toEqual([
      60_000,
      0,
      0,
      [],
    ]);
  });
  it('says nothing of an event that was erased meanwhile, but gives its bytes back', () => {
    const { queue, entry } = sending({ unanswered: 2, failures: 2 });
    queue.entries = [];
    answered(queue, entry, { status: 200 });
    expect(queue.calls).toEqual([]);
    expect([queue.room, queue.unanswered, queue.failures]).toEqual([60_000, 0, 2]);
  });
  it('forgets an event that another tab has taken over', () => {
    const { queue, entry } = sending();
    queue.local.set('a', recordOf('a', { owner: 'another tab' }));
    answered(queue, entry, { status: 500 });
    expect([queue.calls, idsIn(queue)]).toEqual([[], []]);
  });
});

describe('no answer', () => {
  it.each([
    [0, 'waits'],
    [1, 'waits'],
    [2, 'unconfirmed'],
    [3, 'unconfirmed'],
  ])('after %i tries: %s', (tries, fate) => {
    expect(fateOf(0, {}, {}, tries)).toBe(fate);
    expect(fateOf(0, { delivery: 'no-loss' }, {}, tries)).toBe('waits');
  });
  it.each([
    [0, 'unconfirmed'],
    [500, 'waits'],
    [429, 'waits'],
  ])('to a request of a page that was left, %i: %s', (status, fate) => {
    expect(fateOf(status, {}, { isExit: true })).toBe(fate);
  });
  it.each([408, 500, 502, 504])('has the same cap as a %i', (status) => {
    expect([0, 1, 2].map((tries) => fateOf(status, {}, {}, tries))).toEqual([
      'waits',
      'waits',
      'unconfirmed',
    ]);
    expect(fateOf(status, { delivery: 'no-loss' }, {}, 9)).toBe('waits');
  });
  it.each([401, 403, 404, 302, 429, 503])('has nothing to do with a %i', (status) => {
    expect(fateOf(status, {}, {}, 2)).toBe('waits');
  });
  it('is no end with no-loss, for too long neither', () => {
    expect(fateOf(-1, { delivery: 'no-loss' })).toBe('waits');
    expect(fateOf(0, { delivery: 'no-loss' }, { isExit: true })).toBe('waits');
  });
  it.each([
    [0, 'unconfirmed'],
    [-1, 'unconfirmed'],
    [408, 'unconfirmed'],
    [500, 'unconfirmed'],
    [502, 'unconfirmed'],
    [504, 'unconfirmed'],
    [503, 'waits'],
    [429, 'waits'],
    [401, 'waits'],
  ])('with retryAmbiguous: false, after %i: %s', (status, fate) => {
    expect(fateOf(status, { retryAmbiguous: false })).toBe(fate);
    expect(fateOf(status, { retryAmbiguous: false, delivery: 'no-loss' })).toBe('waits');
  });
  it('holds a living page after the second in a row, and says so once', () => {
    const { queue, entry } = sending({ delivery: 'no-loss' });
    answered(queue, entry, { status: 0 });
    expect([queue.unanswered, queue.until, queue.of('emit').length]).toEqual([1, NOW + 500, 1]);
    answered(queue, entry, { status: 0 });
    expect([queue.unanswered, queue.until]).toEqual([2, NOW + 300_000]);
    expect(queue.of('emit').at(-2)).toEqual(['blocked', { delayMs: 300_000 }]);
    expect(queue.of('emit').at(-1)).toMatchObject(['retry', { status: 0, delayMs: 300_000 }]);
    answered(queue, entry, { status: -1 });
    expect(queue.unanswered).toBe(3);
    expect(queue.of('emit').filter(([notice]) => notice === 'blocked')).toHaveLength(1);
  });
  it.each([0, -1])('holds nobody where the page was left: %i', (status) => {
    const { queue, entry } = sending({ delivery: 'no-loss' }, { isExit: true });
    answered(queue, entry, { status });
    expect([queue.until, queue.failures, queue.unanswered, queue.of('emit')]).toEqual([
      0,
      0,
      0,
      [],
    ]);
    expect([entry.phase, entry.isExit]).toEqual([Phase.Waiting, false]);
  });
  it('starts to count anew once anything answers', () => {
    const { queue, entry } = sending({ unanswered: 1 });
    answered(queue, entry, { status: 500 });
    expect([queue.unanswered, queue.of('emit')]).toEqual([0, [['retry', expect.anything()]]]);
  });
});

describe('what waits', () => {
  it('takes its mark back and counts the try, in both stores', () => {
    const { queue, entry } = sending({}, {}, 1);
    answered(queue, entry, { status: 500 });
    expect(queue.of('saveLocal')).toEqual([['a', 0]]);
    expect([queue.of('claim'), entry.record.tries]).toEqual([[['a']], 2]);
  });
  it('counts the first try where none was noted', () => {
    const { queue, entry } = sending();
    Reflect.deleteProperty(entry.record, 'tries');
    answered(queue, entry, { status: 500 });
    expect(entry.record.tries).toBe(1);
  });
  it('counts no try for a 429, which makes all tabs wait', () => {
    const { queue, entry } = sending({}, {}, 1);
    answered(queue, entry, { status: 429, retryAfter: '30' });
    expect(entry.record.tries).toBe(1);
    expect([queue.until, queue.of('pauseAllTabs')]).toEqual([NOW + 30_500, [[NOW + 30_500]]]);
  });
  it.each([0, 408, 500, 503])('makes no other tab wait after %i', (status) => {
    const { queue, entry } = sending();
    answered(queue, entry, { status });
    expect([queue.of('pauseAllTabs'), queue.until]).toEqual([[], NOW + 500]);
  });
  it.each([401, 403, 404, 302, 307])('pauses after %i, without a time', (status) => {
    const { queue, entry } = sending();
    answered(queue, entry, { status });
    expect(queue.of('emit')).toEqual([['paused', { status }]]);
    expect([queue.isPaused, queue.until, queue.failures]).toEqual([true, 0, 0]);
  });
  it.each([408, 429, 500])('does not pause after %i', (status) => {
    const { queue, entry } = sending();
    answered(queue, entry, { status });
    expect(queue.isPaused).toBeUndefined();
  });
  it('waits twice as long after each failure in a row, and says so', () => {
    const { queue, entry } = sending({ failures: 2 });
    answered(queue, entry, { status: 500 });
    expect([queue.until, queue.failures]).toEqual([NOW + 2000, 3]);
    expect(queue.of('emit')).toMatchObject([
      ['retry', { id: 'a', event: 'clicked', status: 500, delayMs: 2000 }],
    ]);
  });
  it('spends its last try in five minutes, not in an outage of seconds', () => {
    const { queue, entry } = sending();
    answered(queue, entry, { status: 500 });
    expect(entry.until).toBe(0);
    answered(queue, entry, { status: 500 });
    expect([entry.record.tries, entry.until]).toEqual([2, NOW + 300_000]);
    expect(queue.of('emit').at(-1)).toMatchObject(['retry', { delayMs: 300_000 }]);
  });
  it('steps aside after three failures that prove it was not taken', () => {
    const { queue, entry } = sending();
    answered(queue, entry, { status: 503 });
    answered(queue, entry, { status: 503 });
    expect(entry.until).toBe(0);
    answered(queue, entry, { status: 503 });
    expect([entry.record.tries, entry.until]).toEqual([0, NOW + 4000]);
  });
});

describe('delayOf', () => {
  it.each([
    ['null', 0, 500],
    ['', 3, 4000],
    ['30', 0, 30_500],
    ['0.4', 0, 500],
    ['1', 3, 4000],
    [new Date(NOW + 60_000).toUTCString(), 0, 60_500],
    [new Date(NOW - 60_000).toUTCString(), 0, 500],
    ['86400', 0, 300_000],
    ['null', 20, 300_000],
  ])('after %j and %i failures: %i ms', (retryAfter, failures, expected) => {
    expect(delayOf(retryAfter, failures, NOW)).toBe(expected);
  });
  it('adds jitter to either', () => {
    vi.mocked(Math.random).mockReturnValue(0.5);
    expect([delayOf('', 1, NOW), delayOf('10', 0, NOW)]).toEqual([1500, 10_750]);
  });
});
