import { ConnectionError } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isConnectFault } from '../../../src/transport/response/network-error.js';
import { messagingOver } from '../../support/clients.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

/** The faults as the runtimes throw them. */
const notSent: readonly [string, unknown][] = [
  ['Node: refused', node({ code: 'ECONNREFUSED', syscall: 'connect' })],
  ['Node: name not found', node({ code: 'ENOTFOUND', syscall: 'getaddrinfo' })],
  ['Node: name server silent', node({ code: 'EAI_AGAIN', syscall: 'getaddrinfo' })],
  ['Node: no way there', node({ code: 'ENETUNREACH', syscall: 'connect' })],
  ['Node: connecting took too long', node({ code: 'ETIMEDOUT', syscall: 'connect' })],
  ['undici: connecting took too long', node({ code: 'UND_ERR_CONNECT_TIMEOUT' })],
  ['Node: certificate has expired', node({ code: 'CERT_HAS_EXPIRED' })],
  ['Node: certificate of somebody else', node({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })],
  [
    'Node: every address of the host refused',
    new TypeError('fetch failed', {
      cause: new AggregateError([
        fault({ code: 'ECONNREFUSED', syscall: 'connect' }),
        fault({ code: 'EHOSTUNREACH', syscall: 'connect' }),
      ]),
    }),
  ],
  ['Bun: refused', fault({ code: 'ECONNREFUSED' }, 'ECONNREFUSED: Unable to connect.')],
  ['Bun: name not found', fault({ code: 'ENOTFOUND', syscall: 'getaddrinfo' })],
  ['Bun before 1.3: refused', fault({ code: 'ConnectionRefused' }, 'Unable to connect.')],
  ['Bun: no socket', fault({ code: 'FailedToOpenSocket' }, 'Was there a typo in the url?')],
  [
    'Deno: refused',
    new TypeError(
      'error sending request for url (http://x/): client error (Connect): tcp connect error: Connection refused (os error 111)',
    ),
  ],
  [
    'Deno 2.9: refused',
    new TypeError('fetch failed', {
      cause: new Error(
        'error sending request for url (http://127.0.0.1:1/): client error (Connect): tcp connect error: Connection refused (os error 111)',
      ),
    }),
  ],
  [
    'Deno: name not found',
    new TypeError(
      'error sending request for url (https://x/): client error (Connect): dns error: failed to lookup address information: Name or service not known',
    ),
  ],
  [
    'Deno: unknown certificate',
    new TypeError(
      'error sending request for url (https://x/): client error (Connect): invalid peer certificate: UnknownIssuer',
    ),
  ],
  [
    'Deno: not permitted',
    Object.assign(new Error('Requires net access to "x:443"'), { name: 'NotCapable' }),
  ],
];

const unknown: readonly [string, unknown][] = [
  ['undici: other side closed', node({ code: 'UND_ERR_SOCKET' }, 'other side closed')],
  ['undici: no headers in time', node({ code: 'UND_ERR_HEADERS_TIMEOUT' })],
  ['undici: no body in time', node({ code: 'UND_ERR_BODY_TIMEOUT' })],
  ['undici: body broken off', new TypeError('terminated')],
  ['Node: reset', node({ code: 'ECONNRESET', syscall: 'read' })],
  ['Node: pipe closed', node({ code: 'EPIPE', syscall: 'write' })],
  ['Node: host lost while reading', node({ code: 'EHOSTUNREACH', syscall: 'read' })],
  ['Node: network lost while reading', node({ code: 'ENETUNREACH', syscall: 'read' })],
  ['Node: no acknowledgement', node({ code: 'ETIMEDOUT', syscall: 'read' })],
  ['Node: TLS broken while writing', node({ code: 'EPROTO', syscall: 'write' })],
  [
    'Node: one address refused, another reset',
    new AggregateError([
      fault({ code: 'ECONNREFUSED', syscall: 'connect' }),
      fault({ code: 'ECONNRESET', syscall: 'read' }),
    ]),
  ],
  [
    'node:https: a plain answer to a whole request',
    fault({ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
  ],
  [
    'words of a handshake alone',
    node(
      { code: 'ECONNRESET' },
      'Client network socket disconnected before secure TLS connection was established',
    ),
  ],
  ['words of a refused connection', new Error('tcp connect error: connection refused')],
  ['words of an expired certificate', new Error('invalid peer certificate: Expired')],
  ['a file that cannot be opened', fault({ code: 'EACCES', syscall: 'open' })],
  ['the system without a call', fault({ code: 'EHOSTUNREACH' })],
  [
    'a name of another host',
    fault({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }, { hostname: 'x.test' }),
  ],
  ['a port of another host', fault({ code: 'ECONNREFUSED', syscall: 'connect' }, { port: 80 })],
  [
    'a request that Deno had sent',
    new TypeError(
      'error sending request for url (https://x/): client error (SendRequest): tcp connect error',
    ),
  ],
  [
    'the words of Deno, not of its fetch',
    new Error(
      'It said: error sending request for url (https://x/): client error (Connect): dns error',
    ),
  ],
  [
    'an error of another call',
    new ConnectionError('refused', { code: 'NOT_CONNECTED', outcome: 'not-sent' }),
  ],
  [
    'an error that cannot be read',
    Object.defineProperty(new Error('x'), 'code', {
      get(): never {
        throw new Error('unreadable');
      },
    }),
  ],
  ['Bun: closed', fault({ code: 'ConnectionClosed' }, 'The socket connection was closed')],
  ['Bun: reset', fault({ code: 'ECONNRESET' })],
  [
    'Deno: closed',
    new TypeError(
      'error sending request for url (http://x/): client error (SendRequest): connection closed before message completed',
    ),
  ],
  ['workerd: lost', new Error('Network connection lost.')],
  ['workerd: internal', new Error('internal error; reference = abc')],
  ['Chrome', new TypeError('Failed to fetch')],
  ['Firefox', new TypeError('NetworkError when attempting to fetch resource.')],
  ['Safari', new TypeError('Load failed')],
  ['a text', 'nothing is known'],
  ['nothing', undefined],
];

afterEach(() => {
  vi.unstubAllGlobals();
});

// Deno has neither codes nor system calls: there, and only there, the message of its `fetch` tells.
function pretendDeno(name: string) {
  if (/Deno/.test(name)) {
    vi.stubGlobal('Deno', {});
  }
}

describe('a fault that means the request never left', () => {
  it.each(notSent)('%s', async (name, thrown) => {
    pretendDeno(name);
    expect(isConnectFault(thrown, 'https://messaging.test/v1/send')).toBe(true);
    await expect(sendAgainst(thrown)).rejects.toMatchObject({
      code: 'NOT_CONNECTED',
      outcome: 'not-sent',
    });
  });
});

describe('a fault that says nothing', () => {
  it.each(unknown)('%s', async (name, thrown) => {
    pretendDeno(name);
    expect(isConnectFault(thrown, 'https://messaging.test/v1/send')).toBe(false);
    await expect(sendAgainst(thrown)).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      outcome: 'unknown',
    });
  });

  it('may refer to itself', () => {
    const circle = new Error('a');
    circle.cause = circle;
    expect(isConnectFault(circle, 'https://messaging.test')).toBe(false);
    const list = new AggregateError([]);
    list.errors.push(list);
    expect(isConnectFault(list, 'https://messaging.test')).toBe(false);
  });
});

describe('the error of a failed connection', () => {
  it('keeps the fault of the runtime as its cause, unwrapped', async () => {
    const thrown = node({ code: 'ECONNREFUSED', syscall: 'connect' });
    const failure: unknown = await sendAgainst(thrown).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConnectionError);
    expect((failure as Error).cause).toBe(thrown);
  });
});

function fault(
  facts: { code: string; syscall?: string },
  more: string | { hostname?: string; port?: number } = {},
): Error {
  const [message, rest] = typeof more === 'string' ? [more, {}] : [facts.code, more];
  return Object.assign(new Error(message), facts, rest);
}

/** Node's fetch hides the fault behind one of its own. */
function node(facts: { code: string; syscall?: string }, message?: string): TypeError {
  return new TypeError('fetch failed', { cause: fault(facts, message) });
}

function sendAgainst(thrown: unknown): Promise<unknown> {
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- some throw anything
  return messagingOver(() => Promise.reject(thrown), { retries: 0 }).send(mail);
}
