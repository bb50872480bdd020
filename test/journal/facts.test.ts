import { memoryJournal } from 'postreel';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/async.js';
import {
  factNames,
  givenUp,
  settledAt,
  stateOf,
  type FactName,
  type Facts,
} from '../../src/journal/facts.js';
import { Journal } from '../../src/journal/journal.js';
import { nameOf } from '../../src/journal/names.js';
import fc, { runs } from '../support/property.js';

const claim = { id: 'a', call: 'call', place: 0, at: 1, print: 'p', owner: 'o' };
const valueOf = (fact: FactName) =>
  fact === 'claim' ? claim : { at: 2, record: { fileId: 'file_1', kind: 'video' } };
const factsOf = (facts: readonly FactName[]): Facts =>
  Object.fromEntries(facts.map((fact) => [fact, valueOf(fact)]));
const open = () =>
  new Journal({
    store: memoryJournal(),
    prefix: 'test/',
    clock: systemClock,
    onTrouble: () => undefined,
  });
const attempt = { name: 'queue/job', number: 1, facts: {} };

describe('the facts of an attempt', () => {
  it('come to the same in any order, late or twice', async () => {
    const names = [...factNames, givenUp('a'), givenUp('b')];
    const facts = fc.uniqueArray(fc.constantFrom<FactName>(...names));
    await fc.assert(
      fc.asyncProperty(
        facts,
        fc.array(fc.nat(), { minLength: 22, maxLength: 22 }),
        async (written, numbers) => {
          const state = (all: readonly FactName[]) => stateOf(factsOf(all));
          const journal = open();
          const twice = [...written, ...written].map((fact, index) => ({
            fact,
            place: numbers[index]!,
          }));
          twice.sort((one, other) => one.place - other.place);
          for (const { fact } of twice) {
            await (fact === 'claim'
              ? journal.claim(attempt, claim)
              : journal.write(attempt, fact, valueOf(fact)));
          }
          const found = (await journal.find([attempt.name], () => false)).get(attempt.name);
          expect(stateOf(found!.facts)).toEqual(state(written));
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it.each<[string, FactName[], string]>([
    [
      'an answer outweighs a refusal, since ids may come late',
      ['claim', 'refused', 'accepted'],
      'accepted',
    ],
    ['a claim without an answer may have been sent', ['claim'], 'claimed'],
    ['a refused claim was not sent', ['claim', 'refused'], 'refused'],
    ['a claim that is dismissed is over', ['claim', 'dismissed'], 'refused'],
    ['nothing is free', [], 'free'],
  ])('%s', (_, facts, state) => {
    expect(
      stateOf(Object.fromEntries(facts.map((fact) => [fact, valueOf(fact)])) as Facts).state,
    ).toBe(state);
  });

  it('refuse the claim that they name, and no other', () => {
    const refused = { at: 2, claim: 'a' };
    expect(stateOf({ claim: { ...claim, id: 'a' }, refused }).state).toBe('refused');
    expect(stateOf({ claim: { ...claim, id: 'b' }, refused }).state).toBe('claimed');
    expect(stateOf({ refused }).state).toBe('free');
  });

  it('give up the claims that they name, and no other', () => {
    const at = 2;
    const facts = { [givenUp('a')]: { at }, [givenUp('c')]: { at } };
    expect(stateOf({ ...facts, claim: { ...claim, id: 'a' } }).state).toBe('refused');
    expect(settledAt({ ...facts, claim: { ...claim, id: 'a' } })).toBe(at);
    expect(stateOf({ ...facts, claim: { ...claim, id: 'b' } }).state).toBe('claimed');
    expect(stateOf(facts).state).toBe('free');
  });

  it('stay a failure, whatever is said later', () => {
    for (const later of ['done', 'saved', 'dismissed'] as const) {
      const facts = { accepted: { at: 1, record: {} }, failed: { at: 1 }, [later]: { at: 2 } };
      expect(stateOf(facts)).toMatchObject({ end: 'failed' });
    }
  });
});

describe('a claim', () => {
  it('that is made again after a lost answer finds itself', async () => {
    const memory = memoryJournal();
    let isLost = true;
    const store = {
      ...memory,
      async putIfAbsent(key: string, value: string) {
        const stands = await memory.putIfAbsent(key, value);
        if (isLost) {
          isLost = false;
          throw new Error('the connection is lost');
        }
        return stands;
      },
    };
    const journal = new Journal({
      store,
      prefix: '',
      clock: systemClock,
      onTrouble: () => undefined,
    });
    expect((await journal.claim(attempt, claim)).id).toBe('a');
    expect((await journal.claim(attempt, { ...claim, id: 'b' })).id).toBe('a');
  });

  it('goes to one of many', async () => {
    const journal = open();
    const claims = Array.from({ length: 10 }, (_, index) => ({ ...claim, id: `rival ${index}` }));
    const standing = await Promise.all(claims.map((one) => journal.claim(attempt, one)));
    expect(new Set(standing.map(({ id }) => id)).size).toBe(1);
  });
});

describe('a name', () => {
  it('is another one for other parts, and printable ASCII whatever they hold', () => {
    const part = fc.string({ unit: 'binary', maxLength: 300 });
    const parts = fc.array(part, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        expect(nameOf(one) === nameOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
        expect(nameOf(one)).toMatch(/^[!-~]*$/);
      }),
    );
    expect(nameOf(['a/b'])).not.toBe(nameOf(['a', 'b']));
    expect(nameOf(['a\ud83d'])).not.toBe(nameOf(['a\ufffd']));
  });
});

it('finds the attempt behind a hundred refused ones with few questions', async () => {
  const memory = memoryJournal();
  let questions = 0;
  const store = {
    ...memory,
    get(keys: readonly string[]) {
      questions += 1;
      return memory.get(keys);
    },
  };
  const journal = new Journal({
    store,
    prefix: '',
    clock: systemClock,
    onTrouble: () => undefined,
  });
  for (let number = 1; number <= 100; number++) {
    await journal.write({ name: 'job', number }, 'refused', { at: 1 });
  }
  const found = await journal.find(['job'], (facts) => stateOf(facts).state === 'refused');
  expect(found.get('job')).toMatchObject({ number: 101, facts: {} });
  expect(questions).toBeLessThan(10);
});
