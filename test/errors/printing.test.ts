import { inspect } from 'node:util';
import { ConfigurationError, MessagingClient, NotFoundError, PostreelError } from 'postreel';
import { describe, expect, it } from 'vitest';
import { withoutOwnFrames } from '../../src/core/errors.js';
import { answering, messagingOver } from '../support/clients.js';

describe('an error that is printed', () => {
  it('shows the facts that are known, and no others', () => {
    const error = new PostreelError('Failed.', { code: 'SOME_CODE', status: 500 });
    expect(Object.keys(error)).toEqual(['code', 'status']);
    expect(inspect(error)).not.toMatch(/undefined|fieldErrors/);
    expect(error.retryAfterMs).toBeUndefined();
    expect(error.fieldErrors).toEqual([]);
  });

  it('shows the fields that are wrong', () => {
    const fieldErrors = [{ field: 'email', message: 'is required' }];
    expect(inspect(new PostreelError('Failed.', { fieldErrors }))).toContain('is required');
  });

  it('keeps what is found out later', async () => {
    const client = messagingOver(answering(() => Response.json({}, { status: 404 })).fetch);
    const { error } = await client.contacts.get('con_1').safe();
    expect(error).toBeInstanceOf(NotFoundError);
    expect(inspect(error)).toMatch(/status: 404/);
    expect(inspect(error)).not.toContain('undefined');
  });

  it('begins with the line of the caller', () => {
    const frames = [
      '    at Contacts.create (file:///app/node_modules/postreel/dist/esm/chunk-1.js:1:1)',
      '    at Object.<anonymous> (C:\\app\\node_modules\\postreel\\dist\\cjs\\chunk-2.cjs:1:1)',
      '    at main (file:///app/postreel/src/main.js:3:7)',
      '    at later (file:///app/node_modules/postreel/dist/esm/chunk-1.js:2:2)',
    ];
    expect(withoutOwnFrames(frames)).toEqual(frames.slice(2));
    expect(withoutOwnFrames(frames.slice(0, 2))).toEqual(frames.slice(0, 2));
  });

  it('of an option that does not fit has a stack as well', () => {
    let failure: unknown;
    try {
      new MessagingClient({ baseUrl: 'nowhere', apiKey: 'sk_x' });
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect((failure as Error).stack).toContain('printing.test');
  });
});

it('a list that is read without waiting names the two ways to read it', () => {
  const client = messagingOver(answering(() => ({ data: [] })).fetch);
  const list = client.contacts.list() as unknown as Iterable<unknown>; // a program without types
  const words = /`for await \(const item of list\)` or `await list\.toArray\(\)`/;
  expect(() => [...list]).toThrow(words);
  expect(() => Array.from(list)).toThrow(words);
});

it.each([
  ['https://api.example.com/v1', true],
  ['https://api.example.com/prefix/v1/', true],
  ['https://api.example.com', false],
])('a 404 below %s hints at the `/v1` in the address: %s', async (baseUrl, isHinted) => {
  const { fetch } = answering(() => Response.json({}, { status: 404 }));
  const client = messagingOver(fetch, { baseUrl });
  const { error } = await client.contacts.get('con_1').safe();
  expect(error?.message.includes('`baseUrl` ends in `/v1`')).toBe(isHinted);
});
