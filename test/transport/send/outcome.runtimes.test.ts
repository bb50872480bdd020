import { ConnectionError } from 'postreel';
import { describe, expect, it } from 'vitest';
import { neverLeft } from '../../../src/transport/response/network-error.js';
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
  ['Node: no TLS at that port', node({ code: 'ERR_SSL_WRONG_VERSION_NUMBER' })],
  [
    'Node: handshake cut off',
    node(
      { code: 'ECONNRESET' },
      'Client network socket disconnected before secure TLS connection was established',
    ),
  ],
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

describe('a fault that means the request never left', () => {
  it.each(notSent)('%s', async (_, thrown) => {
    expect(neverLeft(thrown)).toBe(true);
    await expect(sendAgainst(thrown)).rejects.toMatchObject({
      code: 'NOT_CONNECTED',
      outcome: 'not-sent',
    });
  });
});

describe('a fault that says nothing', () => {
  it.each(unknown)('%s', async (_, thrown) => {
    expect(neverLeft(thrown)).toBe(false);
    await expect(sendAgainst(thrown)).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      outcome: 'unknown',
    });
  });

  it('may refer to itself', () => {
    const circle = new Error('a');
    circle.cause = circle;
    expect(neverLeft(circle)).toBe(false);
    const list = new AggregateError([]);
    list.errors.push(list);
    expect(neverLeft(list)).toBe(false);
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

function fault(facts: { code: string; syscall?: string }, message = facts.code): Error {
  return Object.assign(new Error(message), facts);
}

/** Node's fetch hides the fault behind one of its own. */
function node(facts: { code: string; syscall?: string }, message?: string): TypeError {
  return new TypeError('fetch failed', { cause: fault(facts, message) });
}

function sendAgainst(thrown: unknown): Promise<unknown> {
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- some throw anything
  return messagingOver(() => Promise.reject(thrown), { retries: 0 }).send(mail);
}
