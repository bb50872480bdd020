import { PostreelError } from 'postreel';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../../support/clients.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const read = new Response('{}');
await read.text();

/** The return values of a custom `fetch`, and the matching error messages. */
const returned: readonly [string, () => unknown, string][] = [
  ['nothing', () => undefined, 'returned undefined'],
  ['null', () => null, 'returned null'],
  ['a text', () => 'ok', 'returned string'],
  ['a mock', () => ({ ok: true, json: () => ({}) }), 'an object that is not a `Response`'],
  ['a mock with a status', () => ({ ok: true, status: 200 }), 'an object that is not a `Response`'],
  ['one Response again and again', () => read, 'whose body has been read'],
];

async function sendOver(answer: () => unknown) {
  let requests = 0;
  const client = messagingOver(async () => {
    requests++;
    return (await answer()) as Response;
  });
  const { error } = await client.send(mail).safe();
  return { error, requests };
}

describe('a call whose `fetch` returns', () => {
  it.each(returned)(
    '%s is rejected at once, and nothing is sent again',
    async (_, answer, words) => {
      const { error, requests } = await sendOver(answer);
      expect(error).toMatchObject({ name: 'UnexpectedResponseError', outcome: 'unknown' });
      expect(error?.message).toContain(words);
      expect(error?.message).toMatch(/must return a .* It may have taken effect\.$/);
      expect(requests).toBe(1);
    },
  );
});

describe('a call whose `fetch` throws', () => {
  const errorWithUnreadable = (name: string) =>
    Object.defineProperty(new Error('x'), name, {
      get(): never {
        throw new Error('unreadable');
      },
    });

  it.each(['code', 'cause', 'message', 'errors', 'syscall', 'name'])(
    'an error with an unreadable %s has an unknown outcome, and does not count as aborted',
    async (name) => {
      const { error, requests } = await sendOver(() => {
        throw errorWithUnreadable(name);
      });
      // Without a name or a message, the error may not be a network error at all.
      expect(error?.code).toMatch(/^(CONNECTION_LOST|UNEXPECTED_ERROR)$/);
      expect(error?.outcome).toBe('unknown');
      expect(requests).toBe(1);
    },
  );

  const fails = () => {
    throw new Error('unreadable');
  };
  const opaque = () => new Proxy({}, { get: fails, ownKeys: fails, getPrototypeOf: fails });

  it('an unreadable value has an unknown outcome, and does not count as aborted', async () => {
    const { error, requests } = await sendOver(() => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- a fetch may throw anything
      throw opaque();
    });
    expect(error).toMatchObject({ code: 'UNEXPECTED_ERROR', outcome: 'unknown' });
    expect(requests).toBe(1);
  });

  it('an error that holds an unreadable value is a lost connection', async () => {
    const request = opaque();
    const { error, requests } = await sendOver(() => {
      throw Object.assign(new Error('x'), { request });
    });
    expect(error).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'unknown' });
    expect(error?.cause).toMatchObject({ message: 'x' });
    expect(requests).toBe(1);
  });

  it('a PostreelError of another call keeps a separate outcome', async () => {
    const other = new PostreelError('another call', { code: 'NOT_CONNECTED', outcome: 'not-sent' });
    const { error, requests } = await sendOver(() => {
      throw other;
    });
    expect(error).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'unknown' });
    expect(error?.cause).toMatchObject({ message: 'another call', code: 'NOT_CONNECTED' });
    expect(requests).toBe(1);
  });
});

describe('a call whose `fetch` follows redirects in spite of `manual`', () => {
  it('does not succeed by turning a send into a GET', async () => {
    const { error, requests } = await sendOver(() =>
      Object.defineProperty(Response.json({ success: true, data: {} }), 'redirected', {
        value: true,
      }),
    );
    expect(error).toMatchObject({ name: 'UnexpectedResponseError', outcome: 'unknown' });
    expect(error?.message).toContain('`fetch` followed');
    expect(requests).toBe(1);
  });
});
