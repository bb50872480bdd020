import { expect, it } from 'vitest';
import { messagingOver } from '../../support/clients.js';

const first = { field: 'subject', message: 'is too long' };

it.each<[string, object, object]>([
  [
    'the documented list',
    { errors: [{ ...first, code: 'too_long' }] },
    { ...first, code: 'too_long' },
  ],
  [
    'a path',
    { errors: [{ path: ['to', 0, 'email'], message: 'is bad' }] },
    { field: 'to[0].email', message: 'is bad' },
  ],
  ['sentences', { errors: ['subject is too long'] }, { field: '', message: 'subject is too long' }],
  [
    'a map of lists',
    { message: 'The data was invalid.', errors: { subject: ['is too long'] } },
    first,
  ],
  ['a map of texts', { errors: { subject: 'is too long' } }, first],
  [
    'a list of messages',
    { statusCode: 400, message: ['subject is too long'], error: 'Bad Request' },
    { field: '', message: 'subject is too long' },
  ],
  [
    'issues',
    {
      error: {
        name: 'ZodError',
        issues: [{ code: 'too_big', path: ['subject'], message: 'is too long' }],
      },
    },
    { ...first, code: 'too_big' },
  ],
  ['flat issues', { error: { formErrors: [], fieldErrors: { subject: ['is too long'] } } }, first],
  [
    'problem details',
    { title: 'Bad', 'invalid-params': [{ name: 'subject', reason: 'is too long' }] },
    first,
  ],
  ['a pointer', { errors: [{ source: { pointer: '/subject' }, detail: 'is too long' }] }, first],
  [
    'places in the body',
    { detail: [{ loc: ['body', 'subject'], msg: 'is too long', type: 'value_error' }] },
    { ...first, code: 'value_error' },
  ],
  [
    'constraints',
    { errors: [{ property: 'subject', constraints: { maxLength: 'is too long' } }] },
    first,
  ],
  ['a list beside `error`', { error: 'Bad Request', errors: [first] }, first],
  [
    'a list beside an `error` with fields',
    { error: { code: 'BAD', message: 'No.' }, errors: [first] },
    first,
  ],
])('reads the errors of fields from %s', async (_, body, expected) => {
  const messaging = messagingOver(() => Promise.resolve(Response.json(body, { status: 422 })));
  const { error } = await messaging.contacts.get('con_1').safe();
  expect(error?.fieldErrors).toEqual([expected]);
});

it.each([
  { error: { code: 'BAD', message: 'No.', details: { limit: 3 } } },
  { message: 'No.' },
  {},
])('finds none in %j', async (body) => {
  const messaging = messagingOver(() => Promise.resolve(Response.json(body, { status: 422 })));
  const { error } = await messaging.contacts.get('con_1').safe();
  expect(error?.fieldErrors).toEqual([]);
});
