import { describe, expect, it } from 'vitest';
import { adopt, mayClaim, newest } from '../../../src/tracker/queue/adoption.js';
import { type Decisions, UNDECIDED } from '../../../src/tracker/queue/decisions.js';
import { type EventRecord, NOBODY, type StoredRecord } from '../../../src/tracker/queue/record.js';
import { Phase, type Queue } from '../../../src/tracker/queue/state.js';
import {
  NOW,
  OWN,
  type UnitQueue,
  addStored,
  idsIn,
  recordOf,
  unitQueue,
} from '../../support/tracker/queue.js';

const SILENT = new Set(['gone']);
const left = (changes: Partial<EventRecord> = {}) => recordOf('a', { owner: 'gone', ...changes });

function look(
  record: StoredRecord,
  silent: ReadonlySet<string> | undefined = SILENT,
  changes: Partial<Queue> = {},
): UnitQueue {
  const queue = unitQueue(changes);
  adopt(queue, { records: [record], silent });
  return queue;
}

describe('adopt', () => {
  it('claims the events of a tab that is gone, under its own name', () => {
    const seen = left({ email: 'ann@example.com', version: 7 });
    const queue = look(seen);
    expect(queue.claims).toHaveLength(1);
    const [claim] = queue.claims;
    expect(claim).toMatchObject({ seen, record: { ...seen, owner: OWN, version: NOW } });
    expect(claim!.entry).toMatchObject({ phase: Phase.Waiting, isStored: true, until: 0, size: 0 });
    // Not before IndexedDB has it.
    expect(idsIn(queue)).toEqual([]);
  });
  it('gives it a higher version, even by a clock that was set back', () => {
    expect(look(left({ version: NOW + 5 })).claims[0]!.record.version).toBe(NOW + 6);
  });
  it('binds what has no contact to that of this page, and nothing else', () => {
    const page = { email: 'bob@example.com' };
    expect(look(left({ email: undefined }), SILENT, page).claims[0]!.record.email).toBe(page.email);
    expect(look(left(), SILENT, page).claims[0]!.record.email).toBe('ann@example.com');
  });
  it('leaves the events of tabs that live', () => {
    expect(look(left({ owner: 'living tab' })).claims).toEqual([]);
  });
  it('takes what was released at once, whoever is asked', () => {
    expect(look(left({ owner: NOBODY }), new Set()).claims).toHaveLength(1);
    expect(look(left({ owner: NOBODY, version: NOW }), undefined).claims).toHaveLength(1);
  });
  it('takes nothing over where consent is denied', () => {
    const decisions = { erasedAt: 0, deniedAt: 1, grantedAt: 0 };
    expect(look(left(), SILENT, { decisions }).claims).toEqual([]);
  });
  it('takes what is its own without its knowing', () => {
    expect(look(left({ owner: OWN })).claims).toHaveLength(1);
    expect(look(left({ owner: OWN, version: NOW }), new Set()).claims).toHaveLength(1);
  });
  it('claims nothing that it has already', () => {
    const queue = unitQueue();
    addStored(queue, 'b');
    addStored(queue, 'a');
    adopt(queue, { records: [left()], silent: SILENT });
    expect(queue.claims).toEqual([]);
  });
  it('claims nothing that has changed since it was read', () => {
    const claims = (version: number) => {
      const queue = unitQueue();
      queue.local.set('a', { ...left(), version });
      adopt(queue, { records: [left({ version: 7 })], silent: SILENT });
      return queue.claims.length;
    };
    expect([6, 7, 8].map(claims)).toEqual([1, 1, 0]);
  });
  it('claims nothing that is finished or erased, but goes on', () => {
    const queue = unitQueue({ decisions: { ...UNDECIDED, erasedAt: 5 } });
    const records = [
      { id: 'buried', at: 6, version: 9e15, owner: 'gone' },
      recordOf('erased', { at: 5, owner: 'gone' }),
      recordOf('alive', { at: 6, owner: 'gone' }),
    ];
    adopt(queue, { records, silent: SILENT });
    expect(queue.claims.map(({ record }) => record.id)).toEqual(['alive']);
  });
  it.each([
    [90_001, 1],
    [90_000, 0],
    [-90_000, 0],
    [-90_001, 1],
  ])('without locks, claims what nobody has changed for %i ms: %i', (age, count) => {
    const queue = unitQueue();
    adopt(queue, { records: [left({ version: NOW - age })] });
    expect(queue.claims).toHaveLength(count);
  });
});

describe('what IndexedDB says of a claim', () => {
  const tell = (isWon: boolean | undefined, record = left(), changes: Partial<Queue> = {}) => {
    const queue = look(record, SILENT, changes);
    queue.calls.length = 0;
    const { onClaimed, ...claim } = queue.claims[0]!;
    return { queue, tell: () => onClaimed!(queue, claim, isWon) };
  };

  it('makes an event that was won one of this tab', () => {
    const { queue, tell: say } = tell(true);
    say();
    expect([queue.calls, idsIn(queue)]).toEqual([[['saveLocal', 'a', 0]], ['a']]);
  });
  it.each([false, undefined])('takes nothing over after %s', (isWon) => {
    const { queue, tell: say } = tell(isWon);
    say();
    expect([queue.calls, idsIn(queue)]).toEqual([[], []]);
  });
  it('takes nothing over that was erased meanwhile', () => {
    const { queue, tell: say } = tell(true);
    queue.decisions = { ...UNDECIDED, erasedAt: NOW };
    say();
    expect([queue.calls, idsIn(queue)]).toEqual([[], []]);
  });
  it('repeats what was handed over with no-loss only', () => {
    const one = tell(true, left({ state: 1 }));
    one.tell();
    expect(one.queue.calls).toEqual([
      ['saveLocal', 'a', 1],
      ['deleteRecord', 'a'],
      ['finish', 'a', 'unconfirmed'],
    ]);
    const other = tell(true, left({ state: 1 }), { delivery: 'no-loss' });
    other.tell();
    expect([other.queue.of('finish'), idsIn(other.queue)]).toEqual([[], ['a']]);
  });
});

describe('newest', () => {
  const copy = (id: string, version: number, at = 1, owner = 'x') => ({ id, at, version, owner });

  it('keeps the highest version of each, and the first of two that are equal', () => {
    const found = newest([
      copy('a', 1),
      copy('a', 3),
      copy('a', 2),
      copy('b', 5, 1, 'first'),
      copy('b', 5, 1, 'second'),
    ]);
    expect(found).toEqual([copy('a', 3), copy('b', 5, 1, 'first')]);
  });
  it('sorts by time, then by id', () => {
    const found = newest([copy('d', 1, 2), copy('b', 1, 1), copy('c', 1, 1), copy('a', 1, 3)]);
    expect(found.map(({ id }) => id)).toEqual(['b', 'c', 'd', 'a']);
    const other = newest([copy('c', 1, 1), copy('b', 1, 1)]);
    expect(other.map(({ id }) => id)).toEqual(['b', 'c']);
  });
  it('leaves out what has no version', () => {
    expect(newest([copy('a', 0)])).toEqual([]);
  });
});

describe('mayClaim', () => {
  const seen = { id: 'a', at: 10, version: 5, owner: 'x' };

  const erased = (erasedAt: number) => ({ ...UNDECIDED, erasedAt });
  const denied = (deniedAt: number) => ({ ...UNDECIDED, deniedAt });

  it.each<[string, StoredRecord | undefined, Decisions, boolean]>([
    ['no copy', undefined, UNDECIDED, true],
    ['an older copy', { ...seen, version: 4, owner: 'y' }, UNDECIDED, true],
    ['the copy that was seen', seen, UNDECIDED, true],
    ['a copy of another tab', { ...seen, owner: 'y' }, UNDECIDED, false],
    ['a newer copy', { ...seen, version: 6 }, UNDECIDED, false],
    ['an earlier erasure', seen, erased(9), true],
    ['an erasure of that moment', seen, erased(10), false],
    ['a later erasure', undefined, erased(11), false],
    ['a denial, however early', seen, { ...UNDECIDED, deniedAt: 1 }, false],
    ['a denial and a later grant', seen, { ...UNDECIDED, deniedAt: 1, grantedAt: 2 }, true],
  ])('where there is %s', (_, copy, decisions, expected) => {
    expect(mayClaim({ decisions: UNDECIDED }, seen, { copy, decisions })).toBe(expected);
  });
  it.each<[string, Decisions, Decisions, boolean]>([
    ['a denial, the grant of another tab', denied(1), { ...UNDECIDED, grantedAt: 2 }, true],
    ['a grant, a later denial of this tab', { ...UNDECIDED, grantedAt: 1 }, denied(2), false],
    ['nothing, an erasure of this tab', UNDECIDED, erased(10), false],
  ])('where IndexedDB has %s has not reached it', (_, inDatabase, known, expected) => {
    const store = { copy: seen, decisions: inDatabase };
    expect(mayClaim({ decisions: known }, seen, store)).toBe(expected);
  });
});
