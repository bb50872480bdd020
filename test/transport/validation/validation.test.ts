import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { of, wholeList, route } from '../../../src/core/route.js';
import {
  answerProblems,
  bodyNotices,
  requestProblems,
} from '../../../src/core/validate.js';

const secret = 'what nobody may read';

function messages(body: z.ZodMiniType, value: unknown): string[] {
  return requestProblems({ body }, value, undefined).map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

const text = z.string().check(z.minLength(3), z.maxLength(5));
const number = z.number().check(z.gte(0.5), z.lte(2));

/** What a rule says of a value: the rule and what was given, in lengths and never in contents. */
const wordings: [string, z.ZodMiniType, unknown, string][] = [
  ['a text too long', text, secret, 'body: must be at most 5 characters; got 20'],
  ['a text too short', text, 'ab', 'body: must be at least 3 characters; got 2'],
  ['an empty text', text, '', 'body: must not be empty'],
  ['a number too big', number, 2.5, 'body: must be at most 2; got 2.5'],
  ['a number too small', number, 0, 'body: must be at least 0.5; got 0'],
  [
    'too many items',
    z.array(z.any()).check(z.maxLength(1)),
    [1, 2],
    'body: takes at most 1 items; got 2',
  ],
  [
    'too few items',
    z.array(z.any()).check(z.minLength(1)),
    [],
    'body: takes at least 1 items; got 0',
  ],
  ['a missing value', z.string(), undefined, 'body: is required'],
  ['null', z.string(), null, 'body: must be a string; got null'],
  [
    'a text in the place of a number',
    z.number(),
    secret,
    'body: must be a number; got a text of 20 characters',
  ],
  ['a number in the place of a text', z.string(), 7, 'body: must be a string; got 7'],
  ['a boolean', z.string(), true, 'body: must be a string; got true'],
  ['a list in the place of a text', z.string(), [1, 2, 3], 'body: must be a string; got 3 items'],
  ['an object in the place of a text', z.string(), {}, 'body: must be a string; got an object'],
  ['a function', z.string(), () => 0, 'body: must be a string; got a function'],
  [
    'a text in the place of an object',
    z.object({}),
    'x',
    'body: must be an object; got a text of 1 characters',
  ],
  [
    'a text in the place of a list',
    z.array(z.any()),
    'x',
    'body: must be an array; got a text of 1 characters',
  ],
  [
    'another word',
    z.enum(['yes', 'no']),
    'maybe',
    'body: must be one of "yes", "no"; got a text of 5 characters',
  ],
  [
    'another word than the only one',
    z.literal('yes'),
    'no',
    'body: must be "yes"; got a text of 2 characters',
  ],
  ['no word', z.enum(['yes', 'no']), undefined, 'body: is required'],
  [
    'what is not an address',
    z.email(),
    secret,
    'body: must be an email address; got a text of 20 characters',
  ],
  [
    'what is not a URL',
    z.url(),
    secret,
    'body: must be an absolute URL; got a text of 20 characters',
  ],
  [
    'what has another form',
    z.string().check(z.regex(/^a/)),
    'b',
    'body: must be of the right form; got a text of 1 characters',
  ],
  [
    'a rule in words',
    z.string().check(z.refine(() => false, 'must be kind')),
    'b',
    'body: must be kind',
  ],
  [
    'a number that is no multiple',
    z.number().check(z.multipleOf(2)),
    3,
    'body: is not valid; got 3',
  ],
  [
    'nothing where no branch fits',
    z.union([z.string(), z.number()]),
    undefined,
    'body: is required',
  ],
];

describe('the words for a value that breaks a rule', () => {
  it.each(wordings)('%s', (_, schema, value, expected) => {
    expect(messages(schema, value)).toEqual([expected]);
  });

  it('name the place, however deep, and the code of the rule', () => {
    const schema = z.object({ to: z.array(z.object({ email: z.string() })), 0: z.string() });
    const problems = requestProblems({ body: schema }, { to: [{ email: 1 }], 0: 1 }, undefined);
    expect(problems.map(({ field, code }) => [field, code])).toEqual([
      ['0', 'invalid_type'],
      ['to[0].email', 'invalid_type'],
    ]);
  });

  it('come from the branch of a union that came furthest', () => {
    const schema = z.union([
      z.object({ template: z.string() }),
      z.object({ from: z.object({ name: z.string(), email: z.string() }) }),
      z.string(),
    ]);
    expect(messages(schema, { from: { name: 'Ann', email: 1 } })).toEqual([
      'from.email: must be a string; got 1',
    ]);
    expect(messages(schema, 5)).toEqual(['body: is not valid; got 5']);
  });

  it('come from a union within a union', () => {
    const inner = z.union([z.object({ a: z.object({ b: z.string() }) }), z.number()]);
    const schema = z.union([z.object({ part: inner }), z.null()]);
    expect(messages(schema, { part: { a: { b: false } } })).toEqual([
      'part.a.b: must be a string; got false',
    ]);
  });

  it('tell of the body and of the query', () => {
    const query = z.object({ limit: z.number() });
    const schemas = { body: z.string(), query };
    expect(requestProblems(schemas, 1, { limit: 'x' }).map(({ field }) => field)).toEqual([
      'body',
      'limit',
    ]);
    expect(requestProblems(schemas, 'x', undefined).map(({ field }) => field)).toEqual(['limit']);
    expect(requestProblems({}, 1, 2)).toEqual([]);
  });
});

describe('an answer', () => {
  it('is checked as a whole, or item by item', () => {
    const returns = z.object({ id: z.string() });
    const one = route('GET /one', { returns: of<{ id: string }>() });
    const many = route('GET /many', { returns: wholeList<{ id: string }>() });
    expect(answerProblems(one, { returns }, { id: 1 }, false)).toEqual([
      { field: 'id', message: 'must be a string; got 1', code: 'invalid_type' },
    ]);
    const items = [{ id: 'a' }, {}, { id: null }];
    expect(
      answerProblems(many, { returns }, { items }, false).map(({ message }) => message),
    ).toEqual(['is required', 'must be a string; got null']);
    expect(answerProblems(one, {}, { id: 1 }, false)).toEqual([]);
  });
});

it('options without effect are told by the row that knows them', () => {
  const warnings = ({ style }: { style: string }) => [`${style} has no effect`];
  expect(bodyNotices({ warnings }, { style: 'bold' })).toEqual(['bold has no effect']);
  expect(bodyNotices({}, {})).toEqual([]);
});
