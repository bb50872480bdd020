import { describe, expect, it } from 'vitest';
import { claimed, open, start, take, tick } from '../../../src/tracker/queue/protocol.js';
import { NOBODY } from '../../../src/tracker/queue/record.js';
import { Life, Phase, type Queue } from '../../../src/tracker/queue/state.js';
import {
  type UnitQueue,
  DAY,
  NOW,
  OWN,
  addEntry,
  addStored,
  idsIn,
  recordOf,
  unitQueue,
} from '../../support/tracker/queue.js';

const entryOf = (id: string) => ({
  record: recordOf(id),
  phase: Phase.Waiting,
  until: 0,
  size: 0,
});

describe('take', () => {
  it('notes an event in both stores where there is consent', () => {
    const queue = unitQueue();
    take(queue, entryOf('a'));
    expect(queue.calls).toEqual([
      ['saveLocal', 'a', 0],
      ['saveDurable', 'a'],
    ]);
    expect(idsIn(queue)).toEqual(['a']);
  });
  it('keeps an event in memory until there is consent', () => {
    const queue = unitQueue({ isStarted: false, life: Life.Pending });
    take(queue, entryOf('a'));
    expect([queue.calls, idsIn(queue)]).toEqual([[], ['a']]);
  });
  it('hands an event over at once where the page is being left', () => {
    const queue = unitQueue({ life: Life.Left });
    take(queue, entryOf('a'));
    expect(queue.of('send')).toEqual([['a']]);
  });
  it('hands nothing over while the page stays', () => {
    const queue = unitQueue();
    take(queue, entryOf('a'));
    expect([queue.of('send'), queue.life]).toEqual([[], Life.Open]);
  });
});

describe('start', () => {
  it('stores what was held in memory, in order', () => {
    const queue = unitQueue({ isStarted: false, life: Life.Pending });
    addEntry(queue, 'a');
    addEntry(queue, 'b');
    start(queue);
    expect(queue.of('saveLocal')).toEqual([
      ['a', 0],
      ['b', 0],
    ]);
    expect(queue.isStarted).toBe(true);
  });
  it('writes no copy over that of another tab where it was started before', () => {
    const queue = unitQueue();
    addStored(queue, 'a');
    queue.local.set('a', recordOf('a', { owner: '', state: 1, version: 101 }));
    start(queue);
    expect(queue.calls).toEqual([]);
  });
  it('stores nothing that is too old by then', () => {
    const queue = unitQueue({ isStarted: false, life: Life.Pending });
    addEntry(queue, 'a', {}, { at: NOW - DAY - 1 });
    start(queue);
    expect([queue.of('saveLocal'), queue.of('finish')]).toEqual([[], [['a', 'expired']]]);
  });
  it('stores nothing where consent was denied before', () => {
    const queue = unitQueue({ isStarted: false, life: Life.Pending });
    queue.stored.push({ erasedAt: 5, deniedAt: 5, grantedAt: 0 });
    addEntry(queue, 'a');
    start(queue);
    expect([queue.of('saveLocal'), queue.of('finish')]).toEqual([[], [['a', 'denied']]]);
  });
});

describe('open', () => {
  it('claims each event, as it is, once the stores are open', () => {
    const queue = unitQueue({ life: Life.Starting });
    const entry = addStored(queue, 'a');
    addStored(queue, 'b');
    open(queue);
    expect([queue.life, queue.of('claim')]).toEqual([Life.Open, [['a'], ['b']]]);
    expect(queue.claims[0]).toMatchObject({ record: entry.record, seen: entry.record });
    expect(queue.isConsentKnown).toBe(true);
  });
  it('leaves what another tab has taken over since, and let go of again', () => {
    const queue = unitQueue({ life: Life.Starting });
    addStored(queue, 'a', {}, { owner: '' });
    queue.local.set('a', recordOf('a', { owner: '', state: 1, version: 101 }));
    open(queue);
    expect([queue.calls, idsIn(queue)]).toEqual([[], []]);
  });
  it('takes back what it has released when the page was left', () => {
    const queue = unitQueue({ life: Life.Starting });
    const { record: seen } = addStored(queue, 'a', {}, { owner: NOBODY });
    open(queue);
    expect(queue.claims[0]).toMatchObject({ seen, record: { owner: OWN, version: NOW } });
  });
  it.each([Life.Pending, Life.Open, Life.Left])('opens nothing in a page of life %s', (life) => {
    const queue = unitQueue({ life });
    addStored(queue, 'a');
    open(queue);
    expect([queue.life, queue.calls]).toEqual([life, []]);
  });
});

describe('tick', () => {
  it('marks the first event as handed over, in both stores, before it is sent', () => {
    const queue = unitQueue();
    const entry = addStored(queue, 'a');
    const seen = entry.record;
    addStored(queue, 'b');
    tick(queue);
    expect(queue.calls).toEqual([
      ['saveLocal', 'a', 1],
      ['claim', 'a'],
    ]);
    expect(queue.claims[0]!.seen).toBe(seen);
    expect(queue.claims[0]!.record).toMatchObject({ state: 1, version: NOW });
    expect(entry.phase).toBe(Phase.Marking);
  });
  it('gives each change a higher version, even by a clock that was set back', () => {
    const queue = unitQueue();
    addStored(queue, 'a', {}, { version: NOW + 5 });
    tick(queue);
    expect(queue.claims[0]!.record.version).toBe(NOW + 6);
  });
  it('marks an event in localStorage only where its copy is still there', () => {
    const queue = unitQueue();
    addStored(queue, 'a');
    queue.local.clear();
    tick(queue);
    expect(queue.calls).toEqual([['claim', 'a']]);
  });
  it('marks an event that no store has had room for', () => {
    const queue = unitQueue();
    addEntry(queue, 'a');
    tick(queue);
    expect(queue.calls).toEqual([
      ['saveLocal', 'a', 1],
      ['claim', 'a'],
    ]);
  });
  it.each([Phase.Marking, Phase.Sent])('waits for what is on its way in phase %s', (phase) => {
    const queue = unitQueue();
    addStored(queue, 'a', { phase });
    addStored(queue, 'b');
    tick(queue);
    expect(queue.calls).toEqual([]);
  });
  it('does not wait for what was handed over when the page was left', () => {
    const queue = unitQueue();
    addStored(queue, 'a', { phase: Phase.Sent, isExit: true });
    addStored(queue, 'b');
    tick(queue);
    expect(queue.of('claim')).toEqual([['b']]);
  });
  it('takes the next where the first belongs to another tab by now', () => {
    const queue = unitQueue();
    addStored(queue, 'a');
    addStored(queue, 'b');
    queue.local.set('a', recordOf('a', { owner: 'another tab' }));
    tick(queue);
    expect([queue.of('claim'), idsIn(queue)]).toEqual([[['b']], ['b']]);
  });
  it.each<[string, Partial<Queue>]>([
    ['without consent', { isStarted: false }],
    ['while it is paused', { isPaused: true }],
    ['offline', { isOnline: () => false }],
    ['without a slot', { hasSlot: () => false }],
    ['before the stores are open', { life: Life.Starting }],
    ['after the page was left', { life: Life.Left }],
    ['after a failure', { until: NOW + 1 }],
    ['after a failure, for the longest wait', { until: NOW + 300_000 }],
    ['while a 429 holds all tabs', { pausedUntil: () => NOW + 1 }],
  ])('sends nothing %s', (_, changes) => {
    const queue = unitQueue(changes);
    addStored(queue, 'a');
    tick(queue);
    expect([queue.calls, idsIn(queue)]).toEqual([[], ['a']]);
  });
  it.each<[string, Partial<Queue>]>([
    ['when a wait ends', { until: NOW, pausedUntil: () => NOW }],
    ['after a wait that a wrong clock has set', { until: NOW + 300_001 }],
    ['after a 429 that a wrong clock has set', { pausedUntil: () => NOW + 300_001 }],
  ])('sends %s', (_, changes) => {
    const queue = unitQueue(changes);
    addStored(queue, 'a');
    tick(queue);
    expect(queue.of('claim')).toEqual([['a']]);
  });
  it('passes by what steps aside and what has no contact', () => {
    const queue = unitQueue();
    addStored(queue, 'a', { until: NOW + 1 });
    addStored(queue, 'b', {}, { email: undefined });
    addStored(queue, 'c');
    tick(queue);
    expect(queue.of('claim')).toEqual([['c']]);
  });
  it('drops what is too old first', () => {
    const queue = unitQueue();
    addStored(queue, 'a', {}, { at: NOW - DAY - 1 });
    addStored(queue, 'b');
    tick(queue);
    expect(queue.calls).toEqual([
      ['deleteRecord', 'a'],
      ['finish', 'a', 'expired'],
      ['saveLocal', 'b', 1],
      ['claim', 'b'],
    ]);
  });
});

describe('claimed', () => {
  /** A queue whose only event waits for IndexedDB. */
  const marking = (changes: Partial<Queue> = {}): UnitQueue => {
    const queue = unitQueue(changes);
    addStored(queue, 'a');
    tick(queue);
    queue.calls.length = 0;
    return queue;
  };

  it('sends once IndexedDB has the mark, and takes its size from the room', () => {
    const queue = marking();
    const [claim] = queue.claims;
    claimed(queue, claim!, true);
    expect(queue.calls).toEqual([['send', 'a']]);
    expect([claim!.entry.phase, claim!.entry.size, queue.room]).toEqual([Phase.Sent, 1000, 59_000]);
  });
  it('forgets an event, without a word, that another tab was first to change', () => {
    const queue = marking();
    queue.local.set('a', recordOf('a', { owner: 'another tab' }));
    claimed(queue, queue.claims[0]!, false);
    expect([queue.calls, idsIn(queue)]).toEqual([[], []]);
  });
  it('takes back the mark of what another tab was first to change, for it was not sent', () => {
    const queue = marking();
    claimed(queue, queue.claims[0]!, false);
    expect([queue.calls, idsIn(queue)]).toEqual([[['saveLocal', 'a', 0]], []]);
    expect(queue.local.get('a')).toMatchObject({ owner: '', state: 0 });
  });
  it('waits a second where IndexedDB cannot tell, and takes the mark back', () => {
    const queue = marking();
    const { entry, record } = queue.claims[0]!;
    claimed(queue, queue.claims[0]!);
    expect(queue.calls).toEqual([['saveLocal', 'a', 0]]);
    expect([entry.phase, entry.isDoubtful, queue.until]).toEqual([Phase.Waiting, true, NOW + 1000]);
    expect(entry.record.version).toBe(record.version + 1);
  });
  it('writes no copy back that others have cleared', () => {
    const queue = marking();
    queue.local.clear();
    claimed(queue, queue.claims[0]!);
    expect([queue.calls, queue.until]).toEqual([[], NOW + 1000]);
  });
  it('sends where IndexedDB fails a second time and the copy is there', () => {
    const queue = marking();
    queue.claims[0]!.entry.isDoubtful = true;
    claimed(queue, queue.claims[0]!);
    expect(queue.of('send')).toEqual([['a']]);
  });
  it('sends nothing where IndexedDB fails a second time and the copy is gone', () => {
    const queue = marking();
    queue.claims[0]!.entry.isDoubtful = true;
    queue.local.clear();
    claimed(queue, queue.claims[0]!);
    expect(queue.of('send')).toEqual([]);
  });
  it('sends what no store has, for nobody else can have it', () => {
    const queue = marking();
    queue.claims[0]!.entry.isStored = false;
    claimed(queue, queue.claims[0]!);
    expect(queue.of('send')).toEqual([['a']]);
  });
  it('sends nothing that was erased meanwhile', () => {
    const queue = marking();
    queue.stored.push({ erasedAt: NOW, deniedAt: 0, grantedAt: 0 });
    claimed(queue, queue.claims[0]!, true);
    expect(queue.calls).toEqual([
      ['removeRecord', 'a'],
      ['finish', 'a', 'reset'],
    ]);
  });
  it('sends nothing for a change that is not the last', () => {
    const queue = marking();
    const { entry } = queue.claims[0]!;
    entry.record = { ...entry.record };
    claimed(queue, queue.claims[0]!, true);
    expect(queue.calls).toEqual([]);
  });
  it.each([Phase.Waiting, Phase.Sent])('sends nothing twice, as in phase %s', (phase) => {
    const queue = marking();
    queue.claims[0]!.entry.phase = phase;
    claimed(queue, queue.claims[0]!, true);
    expect(queue.calls).toEqual([]);
  });
});

describe('a batch', () => {
  const batchOf = (count: number, changes: Partial<Queue> = {}) => {
    const queue = unitQueue({ maxBatch: 3, ...changes });
    Array.from({ length: count }, (_, n) => addStored(queue, `${n}`));
    tick(queue);
    return queue;
  };

  it('holds as many events as the other end takes', () => {
    expect(batchOf(5).claims.map(({ record }) => record.id)).toEqual(['0', '1', '2']);
  });
  it('holds what one request may weigh, and one event whatever it weighs', () => {
    expect(batchOf(5, { sizeOf: () => 30_000 }).claims).toHaveLength(2);
    expect(batchOf(5, { sizeOf: () => 100_000 }).claims).toHaveLength(1);
  });
  it('is sent once IndexedDB has answered for all of it', () => {
    const queue = batchOf(3);
    claimed(queue, queue.claims[1]!, true);
    claimed(queue, queue.claims[0]!, true);
    expect(queue.of('send')).toEqual([]);
    claimed(queue, queue.claims[2]!, true);
    expect(queue.of('send')).toEqual([['0', '1', '2']]);
  });
  it('goes without what another tab was first to change', () => {
    const queue = batchOf(3);
    claimed(queue, queue.claims[0]!, true);
    claimed(queue, queue.claims[2]!, true);
    claimed(queue, queue.claims[1]!, false);
    expect(queue.of('send')).toEqual([['0', '2']]);
  });
});
