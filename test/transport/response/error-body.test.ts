import { inspect } from 'node:util';
import type { PostreelError } from 'postreel';
import { describe, expect, it } from 'vitest';
import { answering, messagingOver } from '../../support/clients.js';

const key = 'sk_test_key';

/** The error of a call that is answered like this. */
async function errorOf(body: string | object, status = 422): Promise<PostreelError> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { fetch } = answering(() => new Response(text, { status }));
  const { error } = await messagingOver(fetch, { apiKey: key, retries: 0 })
    .contacts.get('con_1')
    .safe();
  if (!error) {
    throw new Error('it succeeded');
  }
  return error;
}

describe('what the service says about a failure', () => {
  it.each<[string, string | object, string]>([
    ['a text under `data`', { success: false, data: 'Invalid credentials' }, 'Invalid credentials'],
    ['a text under `error`', { error: 'No such thing.' }, 'No such thing'],
    ['a JSON string', '"Quota used up"', 'Quota used up'],
    ['plain text', 'upstream is gone', 'upstream is gone'],
    ['problem details', { type: 'about:blank', title: 'Bad', detail: 'Too big' }, 'Too big'],
    ['a title alone', { title: 'Bad request' }, 'Bad request'],
    [
      'a message beside fields',
      { message: 'Oops', errors: [{ field: 'a', message: 'b' }] },
      'Oops',
    ],
  ])('%s is in the message', async (_, body, words) => {
    const { message } = await errorOf(body);
    expect(message).toContain(`: ${words}`);
  });

  it('names the first field after its own sentence', async () => {
    const errors = [
      { field: 'a', message: 'is bad' },
      { field: 'b', message: 'is worse' },
    ];
    const { message } = await errorOf({ error: { message: 'Check the form.', errors } });
    expect(message).toContain(': Check the form: `a` is bad (and 1 more).');
  });

  it.each([
    { code: 'ann@example.com is taken', message: 'No' },
    { error: { code: 'ann@example.com is taken', message: 'No' } },
    { error: 'ann@example.com is taken', message: 'No' },
  ])('makes no code of a sentence: %j', async (body) => {
    expect(await errorOf(body)).toMatchObject({ code: 'HTTP_422' });
    const { code } = await errorOf({ ...body, code: 'TAKEN', error: 'TAKEN' });
    expect(code).toBe('TAKEN');
  });

  it('makes no sentence of a page', async () => {
    const { message, body } = await errorOf('<html><b>502</b></html>', 502);
    expect(message).toBe('GET /contacts/con_1 failed (502).');
    expect(body).toBe('<html><b>502</b></html>');
  });

  it('keeps the parsed body, its time and its details', async () => {
    const said = {
      success: false,
      error: { message: 'No', details: { limit: 5 }, timestamp: '2030-01-01T00:00:00Z' },
      more: [1, true, null],
    };
    const error = await errorOf(said);
    expect(error).toMatchObject({ timestamp: '2030-01-01T00:00:00Z', details: { limit: 5 } });
    expect(error.body).toEqual(said);
  });

  it('is on the error without being printed or logged', async () => {
    const error = await errorOf({ error: { message: 'No' }, secretOfTheService: 'hidden-7' });
    expect(error.body).toMatchObject({ secretOfTheService: 'hidden-7' });
    expect(inspect(error)).not.toContain('hidden-7');
    expect(JSON.stringify(error)).not.toContain('hidden-7');
    expect(Object.keys(error)).not.toContain('body');
  });

  it('never repeats the key, in values, in names, at any depth or in plain text', async () => {
    const echo = { error: { message: 'No', details: { [key]: [{ deep: `Bearer ${key}` }] } } };
    const { body, details } = await errorOf(echo);
    expect(JSON.stringify([body, details])).not.toContain(key);
    expect((await errorOf(`your key ${key} is bad`)).body).not.toContain(key);
  });

  it('is bounded in size, number and depth', async () => {
    const long = await errorOf({ text: 'x'.repeat(5_000), error: 'no' });
    expect(JSON.stringify(long.body).length).toBeLessThan(1_100);
    const many = await errorOf(`{"error":"no","list":[${'[],'.repeat(5_000)}[]]}`);
    expect(JSON.stringify(many.body).length).toBeLessThan(5_000);
    const deep = await errorOf('{"a":'.repeat(500) + '1' + '}'.repeat(500));
    expect(JSON.stringify(deep.body).length).toBeLessThan(200);
    const text = await errorOf('z'.repeat(60_000));
    expect(String(text.body).length).toBe(4_000);
  });

  it('is kept where a yes cannot be read', async () => {
    const { body, code } = await errorOf('<p>Log in to the hotel</p>', 200);
    expect(code).toBe('UNEXPECTED_RESPONSE');
    expect(body).toBe('<p>Log in to the hotel</p>');
  });
});

describe('what `.safe()` says about a bug', () => {
  it('is not that the call was aborted', async () => {
    const body = {
      get email(): string {
        throw new RangeError('of the caller');
      },
    };
    const { fetch, requests } = answering(() => ({}));
    const { error } = await messagingOver(fetch).request('POST', '/contacts', { body }).safe();
    expect(error).toMatchObject({
      name: 'InvalidRequestError',
      code: 'INVALID_REQUEST',
      outcome: 'not-sent',
      method: 'POST',
      path: '/contacts',
    });
    expect(error?.cause).toBeInstanceOf(RangeError);
    expect(requests).toEqual([]);
  });
});
