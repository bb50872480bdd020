import { describe, expect, it } from 'vitest';
import {
  end,
  decide,
  identify,
  isAlive,
  isAllowed,
  isExpired,
  leave,
  noteDecisions,
  rewrite,
  sweep,
} from '../../../src/tracker/queue/protocol.js';
import { UNDECIDED } from '../../../src/tracker/queue/decisions.js';
import { NOBODY } from '../../../src/tracker/queue/record.js';
import { Life, Phase, type Queue } from '../../../src/tracker/queue/state.js';
import {
  DAY,
  NOW,
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
      ['saveLocal', 'a', 1],
      ['saveLocal', 'b', 1],
      ['saveDurable', 'a', 'b'],
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
    expect(queue.local.has('cleared')).toBe(false);
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
    const sent = addStored(queue, 'a', { phase: Phase.Sent }, { state: 1 });
    const waits = addStored(queue, 'b');
    leave(queue);
    expect(queue.of('send')).toEqual([]);
    expect([sent.isExit, waits.isExit]).toEqual([true, false]);
    expect(sent.record).toMatchObject({ state: 1, owner: NOBODY });
  });
  it('releases what it does not hand over, mark and all', () => {
    const queue = unitQueue({ isPaused: true });
    addStored(queue, 'a', { phase: Phase.Marking }, { state: 1, version: 7 });
    leave(queue);
    expect(queue.local.get('a')).toMatchObject({ state: 0, owner: NOBODY, version: NOW });
  });
  it('hands over nothing that the next page of the site can send', () => {
    const queue = unitQueue({ isWithinSite: true });
    addStored(queue, 'a');
    addEntry(queue, 'in memory');
    leave(queue);
    expect(queue.of('send')).toEqual([['in memory']]);
    expect(queue.local.get('a')).toMatchObject({ state: 0, owner: NOBODY });
  });
  it('hands over what is stored in memory alone, to whatever page it leaves', () => {
    const queue = unitQueue({ isWithinSite: true, isLasting: false });
    addStored(queue, 'a');
    leave(queue);
    expect(queue.of('send')).toEqual([['a']]);
  });
  it('hands over nothing before the stores have been asked for a denial', () => {
    const queue = unitQueue({ isConsentKnown: false, life: Life.Starting });
    addStored(queue, 'a');
    leave(queue);
    expect(queue.of('send')).toEqual([]);
    expect(queue.local.get('a')).toMatchObject({ state: 0, owner: NOBODY });
  });
  it('hands over nothing that is too old', () => {
    const queue = unitQueue();
    addStored(queue, 'a', {}, { at: NOW - DAY - 1 });
    leave(queue);
    expect(queue.calls).toEqual([
      ['deleteRecord', 'a'],
      ['finish', 'a', 'expired'],
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
      ['saveLocal', 'a', 0],
      ['claim', 'a'],
    ]);
    expect(queue.entries.map(({ record }) => record.email)).toEqual([
      'ann@example.com',
      'bob@example.com',
    ]);
    expect(queue.email).toBe('ann@example.com');
  });
  it('binds in memory alone where there is no consent', () => {
    const queue = unitQueue({ isStarted: false });
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

describe('decide', () => {
  it('erases at a time that no copy and no clock can be later than', () => {
    const queue = unitQueue();
    addStored(queue, 'a', {}, { at: NOW + 5 });
    const copies = [recordOf('x', { at: NOW + 9 }), recordOf('y', { at: NOW + 7 })];
    decide(queue, 'erased', copies);
    expect(queue.decisions).toEqual({ erasedAt: NOW + 9, deniedAt: 0, grantedAt: 0 });
    expect(queue.of('finish')).toEqual([['a', 'reset']]);
    decide(queue, 'erased');
    expect(queue.decisions.erasedAt).toBe(NOW + 10);
    addStored(queue, 'b', {}, { at: NOW + 20 });
    decide(queue, 'erased');
    expect(queue.decisions.erasedAt).toBe(NOW + 20);
  });
  it('is later than what another tab decided and the contact of this page', () => {
    const queue = unitQueue({ identifiedAt: NOW + 3 });
    queue.stored.push({ erasedAt: NOW + 7, deniedAt: 0, grantedAt: NOW + 8 });
    decide(queue, 'denied');
    expect(queue.decisions).toEqual({ erasedAt: NOW + 9, deniedAt: NOW + 9, grantedAt: NOW + 8 });
  });
  it('erases nothing with a grant', () => {
    const queue = unitQueue();
    addStored(queue, 'a');
    decide(queue, 'granted');
    expect([queue.decisions.grantedAt, idsIn(queue)]).toEqual([NOW, ['a']]);
  });
});

describe('noteDecisions', () => {
  const erased = { erasedAt: NOW, deniedAt: 0, grantedAt: 0 };
  const denied = { erasedAt: NOW, deniedAt: NOW, grantedAt: 0 };

  it('forgets what was tracked until an erasure, and nothing later', () => {
    const queue = unitQueue();
    addStored(queue, 'before', {}, { at: NOW });
    addStored(queue, 'later', {}, { at: NOW + 1 });
    noteDecisions(queue, erased);
    expect(queue.calls).toEqual([
      ['removeRecord', 'before'],
      ['finish', 'before', 'reset'],
    ]);
    expect([idsIn(queue), queue.decisions]).toEqual([['later'], erased]);
  });
  it.each([UNDECIDED, { ...erased, erasedAt: NOW - 1 }, erased])(
    'knows of one that is as late: %o',
    (other) => {
      const queue = unitQueue({ decisions: erased });
      addEntry(queue, 'a', {}, { at: NOW - 5 });
      noteDecisions(queue, other);
      expect([queue.calls, queue.decisions]).toEqual([[], erased]);
    },
  );
  it('drops what was tracked after a denial, before this tab knew of it', () => {
    const queue = unitQueue();
    addStored(queue, 'later', {}, { at: NOW + 1 });
    noteDecisions(queue, denied);
    expect([queue.of('finish'), queue.local.size]).toEqual([[['later', 'denied']], 0]);
  });
  it('ends a denial with a later grant only', () => {
    const queue = unitQueue({ decisions: denied });
    noteDecisions(queue, { ...erased, erasedAt: NOW + 5 });
    expect(isAllowed(queue)).toBe(false);
    noteDecisions(queue, { ...UNDECIDED, grantedAt: NOW });
    expect(isAllowed(queue)).toBe(false);
    noteDecisions(queue, { ...UNDECIDED, grantedAt: NOW + 1 });
    expect(isAllowed(queue)).toBe(true);
  });
  it('forgets a contact that was set before an erasure, and no later one', () => {
    const emailAfter = (identifiedAt: number) => {
      const queue = unitQueue({ email: 'ann@example.com', identifiedAt });
      noteDecisions(queue, erased);
      return queue.email;
    };
    expect([NOW - 1, NOW, NOW + 1].map(emailAfter)).toEqual([
      undefined,
      undefined,
      'ann@example.com',
    ]);
  });
});

describe('isAlive', () => {
  it.each([
    ['an event', recordOf('a', { at: 6 }), true],
    ['one that was erased', recordOf('a', { at: 5 }), false],
    ['a tombstone', { id: 'a', at: 6, version: 1 }, false],
  ])('tells of %s', (_, record, expected) => {
    expect(isAlive(unitQueue({ decisions: { ...UNDECIDED, erasedAt: 5 } }), record)).toBe(expected);
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
      ['deleteRecord', 'waits'],
      ['finish', 'waits', 'expired'],
    ]);
    expect(idsIn(queue)).toEqual(['sent', 'young']);
  });
  const erased = { erasedAt: NOW, deniedAt: 0, grantedAt: 0 };
  const denied = { erasedAt: NOW, deniedAt: NOW, grantedAt: 0 };

  it('obeys an erasure that another tab has stored', () => {
    const queue = unitQueue();
    addStored(queue, 'a');
    queue.stored.push(erased);
    sweep(queue);
    expect(queue.of('finish')).toEqual([['a', 'reset']]);
  });
  it('writes decisions back that others have cleared', () => {
    const queue = unitQueue({ decisions: erased });
    sweep(queue);
    sweep(queue);
    expect(queue.of('saveDecisions')).toEqual([[erased]]);
  });
  it('writes a denial back, and nothing else, where events are in memory alone', () => {
    const queue = unitQueue({ decisions: erased, isDurable: false });
    sweep(queue);
    expect(queue.of('saveDecisions')).toEqual([]);
    queue.decisions = denied;
    sweep(queue);
    expect(queue.of('saveDecisions')).toEqual([[denied]]);
  });
});

describe('end', () => {
  it('leaves a tombstone of what was stored, and of nothing else', () => {
    const queue: Queue & ReturnType<typeof unitQueue> = unitQueue();
    const [stored, held] = [addStored(queue, 'a'), addEntry(queue, 'b')];
    end(queue, stored);
    end(queue, held, 'rejected');
    expect(queue.calls).toEqual([
      ['deleteRecord', 'a'],
      ['finish', 'a', undefined],
      ['finish', 'b', 'rejected'],
    ]);
    expect(queue.entries).toEqual([]);
  });
});
