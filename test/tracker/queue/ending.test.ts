import { describe, expect, it } from 'vitest';
import {
  end,
  erase,
  identify,
  isAlive,
  isExpired,
  leave,
  noteErasure,
  rewrite,
  sweep,
} from '../../../src/tracker/queue/protocol.js';
import { Life, Phase, type Queue } from '../../../src/tracker/queue/state.js';
import {
  DAY,
  NOW,
  PREFIX,
  addEntry,
  addStored,
  idsIn,
  recordOf,
  unitQueue,
} from '../../support/tracker/queue.js';

describe('leave', () => {
  it('marks what fits in both stores, then hands it over in one batch', () => {
    const queue = unitQueue();
    const [one, two] = [addStored(queue, 'a'), addStored(queue, 'b')];
    leave(queue);
    expect(queue.calls).toEqual([
      ['note', 'a', 1],
      ['note', 'b', 1],
      ['put', 'a', 'b'],
      ['send', 'a', 'b'],
    ]);
    expect(queue.life).toBe(Life.Left);
    expect([one, two].map(({ phase, isExit }) => [phase, isExit])).toEqual([
      [Phase.Sent, true],
      [Phase.Sent, true],
    ]);
    expect([one.record.version, queue.room]).toEqual([NOW, 58_000]);
  });
  it('does nothing where nothing waits', () => {
    const queue = unitQueue();
    leave(queue);
    expect([queue.calls, queue.life]).toEqual([[], Life.Left]);
  });
  it('hands over 20 events at most', () => {
    const queue = unitQueue();
    const entries = Array.from({ length: 21 }, (_, n) => addStored(queue, `${n}`));
    leave(queue);
    expect(queue.of('send')[0]).toHaveLength(20);
    expect([entries[20]!.phase, entries[20]!.isExit ?? false]).toEqual([Phase.Waiting, false]);
  });
  it('hands over what a browser takes along, to the byte', () => {
    const queue = unitQueue({ room: 2000 });
    ['a', 'b', 'c'].forEach((id) => addStored(queue, id));
    leave(queue);
    expect([queue.of('send'), queue.room]).toEqual([[['a', 'b']], 0]);
  });
  it('hands over nothing that was erased, cleared or taken over', () => {
    const queue = unitQueue();
    ['cleared', 'foreign', 'own'].forEach((id) => addStored(queue, id));
    queue.local.delete('cleared');
    queue.local.set('foreign', recordOf('foreign', { owner: 'another tab' }));
    leave(queue);
    expect([queue.of('send'), idsIn(queue)]).toEqual([[['own']], ['cleared', 'own']]);
  });
  it('hands over what no store has had room for', () => {
    const queue = unitQueue();
    addEntry(queue, 'a');
    leave(queue);
    expect(queue.of('send')).toEqual([['a']]);
  });
  it('hands over an event whose mark IndexedDB has not confirmed', () => {
    const queue = unitQueue();
    addStored(queue, 'a', { phase: Phase.Marking });
    leave(queue);
    expect(queue.of('send')).toEqual([['a']]);
  });
  it('leaves what is on its way, whose failure proves nothing from now on', () => {
    const queue = unitQueue({ isPaused: true });
    const [sent, waits] = [addStored(queue, 'a', { phase: Phase.Sent }), addStored(queue, 'b')];
    leave(queue);
    expect([queue.calls, sent.isExit, waits.isExit]).toEqual([[], true, false]);
  });
  it('hands over nothing that is too old', () => {
    const queue = unitQueue();
    addStored(queue, 'a', {}, { at: NOW - DAY - 1 });
    leave(queue);
    expect(queue.calls).toEqual([
      ['bury', 'a'],
      ['settle', 'a', 'expired'],
    ]);
  });
});

describe('identify', () => {
  it('binds what has no contact yet to the one that is known now, in both stores', () => {
    const queue = unitQueue();
    addStored(queue, 'a', {}, { email: undefined });
    addStored(queue, 'b', {}, { email: 'bob@example.com' });
    identify(queue, 'ann@example.com');
    expect(queue.calls).toEqual([
      ['note', 'a', 0],
      ['claim', 'a'],
    ]);
    expect(queue.entries.map(({ record }) => record.email)).toEqual([
      'ann@example.com',
      'bob@example.com',
    ]);
    expect(queue.email).toBe('ann@example.com');
  });
  it('binds in memory alone where there is no consent', () => {
    const queue = unitQueue({ grantedAt: 0 });
    addEntry(queue, 'a', {}, { email: undefined });
    identify(queue, 'ann@example.com');
    expect([queue.calls, queue.entries[0]!.record.email]).toEqual([[], 'ann@example.com']);
  });
  it('binds nothing that another tab has taken over', () => {
    const queue = unitQueue();
    addStored(queue, 'a', {}, { email: undefined });
    queue.local.set('a', recordOf('a', { owner: 'another tab' }));
    identify(queue, 'ann@example.com');
    expect([queue.calls, idsIn(queue)]).toEqual([[], []]);
  });
});

describe('rewrite', () => {
  it('writes no copy back that others have cleared, but asks IndexedDB', () => {
    const queue = unitQueue();
    const entry = addStored(queue, 'a');
    queue.local.clear();
    rewrite(queue, entry, { tries: 1 });
    expect([queue.calls, entry.record.tries]).toEqual([[['claim', 'a']], 1]);
  });
});

describe('erase', () => {
  it('is a time that no copy and no clock can be later than', () => {
    const queue = unitQueue();
    addStored(queue, 'a', {}, { at: NOW + 5 });
    const copies = [recordOf('x', { at: NOW + 9 }), recordOf('y', { at: NOW + 7 })];
    expect(erase(queue, 'reset', copies)).toEqual({
      id: PREFIX,
      at: NOW + 9,
      version: NOW + 9,
      owner: 'reset',
    });
    expect(queue.of('settle')).toEqual([['a', 'reset']]);
    expect(erase(queue, 'reset', []).at).toBe(NOW + 10);
    addStored(queue, 'b', {}, { at: NOW + 20 });
    expect(erase(queue, 'reset', []).at).toBe(NOW + 20);
    expect(erase(unitQueue(), 'reset', []).at).toBe(NOW);
  });
});

describe('noteErasure', () => {
  const erasure = { id: PREFIX, at: NOW, version: NOW, owner: 'reset' };

  it('forgets what was tracked until then, and nothing later', () => {
    const queue = unitQueue();
    addStored(queue, 'before', {}, { at: NOW });
    addStored(queue, 'later', {}, { at: NOW + 1 });
    noteErasure(queue, erasure);
    expect([queue.calls, idsIn(queue)]).toEqual([[['settle', 'before', 'reset']], ['later']]);
    expect([queue.erasedAt, queue.grantedAt]).toEqual([NOW, 1]);
  });
  it.each([undefined, { ...erasure, at: NOW - 1 }, { ...erasure, at: NOW }])(
    'knows of one that is as late: %o',
    (other) => {
      const queue = unitQueue({ erasedAt: NOW });
      addEntry(queue, 'a', {}, { at: NOW - 5 });
      noteErasure(queue, other);
      expect([queue.calls, queue.erasedAt]).toEqual([[], NOW]);
    },
  );
  it('ends the consent of this tab with a denial in another', () => {
    const queue = unitQueue({ grantedAt: NOW - 1, consent: 'granted' });
    noteErasure(queue, { ...erasure, owner: 'denied' });
    expect([queue.consent, queue.grantedAt]).toEqual(['denied', 0]);
  });
  it.each([NOW, NOW + 1])(
    'keeps a consent that is given at %s, not before a denial',
    (grantedAt) => {
      const queue = unitQueue({ grantedAt, consent: 'granted' });
      noteErasure(queue, { ...erasure, owner: 'denied' });
      expect([queue.consent, queue.grantedAt, queue.erasedAt]).toEqual(['granted', grantedAt, NOW]);
    },
  );
  it('keeps the consent of this tab over a reset', () => {
    const queue = unitQueue({ consent: 'granted' });
    noteErasure(queue, erasure);
    expect([queue.consent, queue.grantedAt]).toEqual(['granted', 1]);
  });
});

describe('isAlive', () => {
  it.each([
    ['an event', recordOf('a', { at: 6 }), true],
    ['one that was erased', recordOf('a', { at: 5 }), false],
    ['a tombstone', { id: 'a', at: 6, version: 1 }, false],
  ])('tells of %s', (_, record, expected) => {
    expect(isAlive(unitQueue({ erasedAt: 5 }), record)).toBe(expected);
  });
});

describe('isExpired', () => {
  it.each([
    [NOW - DAY, false],
    [NOW - DAY - 1, true],
    [17e11, false],
    [17e11 + 1, true],
    [0, false],
  ])('tells of an event of %s', (at, expected) => {
    expect(isExpired(unitQueue(), recordOf('a', { at }))).toBe(expected);
  });
});

describe('sweep', () => {
  it('drops what is too old, but nothing that is on its way', () => {
    const queue = unitQueue();
    const at = NOW - DAY - 1;
    addStored(queue, 'waits', {}, { at });
    addStored(queue, 'sent', { phase: Phase.Sent }, { at });
    addStored(queue, 'young');
    sweep(queue);
    expect(queue.calls).toEqual([
      ['bury', 'waits'],
      ['settle', 'waits', 'expired'],
    ]);
    expect(idsIn(queue)).toEqual(['sent', 'young']);
  });
  it('hears of an erasure that another tab has noted', () => {
    const queue = unitQueue();
    addStored(queue, 'a');
    queue.local.set(PREFIX, { id: PREFIX, at: NOW, version: NOW, owner: 'reset' });
    sweep(queue);
    expect(queue.calls).toEqual([['settle', 'a', 'reset']]);
  });
});

describe('end', () => {
  it('leaves a tombstone of what was stored, and of nothing else', () => {
    const queue: Queue & ReturnType<typeof unitQueue> = unitQueue();
    const [stored, held] = [addStored(queue, 'a'), addEntry(queue, 'b')];
    end(queue, stored);
    end(queue, held, 'rejected');
    expect(queue.calls).toEqual([
      ['bury', 'a'],
      ['settle', 'a', undefined],
      ['settle', 'b', 'rejected'],
    ]);
    expect(queue.entries).toEqual([]);
  });
});
