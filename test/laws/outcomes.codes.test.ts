import { constants } from 'node:os';
import type { PostreelError } from 'postreel';
import { errors as undiciErrors } from 'undici';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { holdLaw, type Subject } from './exceptions.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

/** Every error code of the system, of undici, of DNS and of TLS. */
const codes = [
  ...Object.keys(constants.errno),
  ...Object.values(undiciErrors).map((Kind) => codeOf(Kind)),
  ...['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME', 'EAI_FAIL'],
  ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT', 'CERT_REVOKED'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION_NUMBER', 'HOSTNAME_MISMATCH'],
  ...['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR'],
  ...['ConnectionRefused', 'FailedToOpenSocket', 'DNSResolveFailed', 'ConnectionClosed'],
].filter((code) => code !== undefined);

/** The codes that only a connection that never opened can have. */
const connectCodes: readonly string[] = [
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME'],
  ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['ERR_TLS_CERT_ALTNAME_INVALID'],
  ...['ConnectionRefused', 'FailedToOpenSocket', 'DNSResolveFailed'],
];
const systemCalls = [undefined, 'getaddrinfo', 'connect', 'read', 'write', 'open', 'shutdown'];

interface Facts {
  readonly code?: string;
  readonly syscall?: string | undefined;
  readonly hostname?: string;
  readonly port?: number;
  readonly address?: string;
}

it("a code means `not-sent` only if no byte can have been sent, whatever the error's message", async () => {
  const subjects = [...new Set(codes)].flatMap((code) =>
    systemCalls.map((syscall): Subject => {
      const isProof =
        syscall === undefined
          ? connectCodes.includes(code)
          : syscall === 'connect' || syscall === 'getaddrinfo';
      const cause = fault({ code, syscall });
      return {
        name: `${code} of ${syscall ?? 'no call'}`,
        check: async () => {
          await expectOutcome(cause, isProof);
          await expectOutcome(new TypeError(cause.message, { cause }), isProof);
        },
      };
    }),
  );
  await holdLaw('an outcome is proven, by codes', subjects);
});

const refused = fault({ code: 'ECONNREFUSED', syscall: 'connect' });
const reset = fault({ code: 'ECONNRESET', syscall: 'read' });
const circle = new Error('a');
circle.cause = circle;

describe('a network error', () => {
  it.each<[string, unknown]>([
    ['each address of the host refused the connection', new AggregateError([refused, refused])],
    ['this very host was not found', fault({ code: 'ENOTFOUND', hostname: 'messaging.test' })],
    [
      'its port refused the connection',
      fault({ code: 'ECONNREFUSED', syscall: 'connect', port: 443 }),
    ],
  ])('proves that nothing was sent if %s', async (_, thrown) => {
    await expectOutcome(thrown, true);
  });

  it.each<[string, unknown]>([
    ['one address refused, another was reset', new AggregateError([refused, reset])],
    ['another host was not found', fault({ code: 'ENOTFOUND', hostname: 'x.test' })],
    ['another port refused', fault({ code: 'ECONNREFUSED', syscall: 'connect', port: 80 })],
    [
      'only the message mentions a connection error',
      new Error('tcp connect error: connection refused'),
    ],
    [
      'the words of Deno, elsewhere',
      new TypeError('error sending request for url (https://x/): client error (Connect): refused'),
    ],
    ['Chrome', new TypeError('Failed to fetch')],
    ['Firefox', new TypeError('NetworkError when attempting to fetch resource.')],
    ['Safari', new TypeError('Load failed')],
    ['it causes itself', circle],
    ['it is a text', 'nothing is known'],
    ['it is nothing', undefined],
  ])('proves nothing if %s', async (_, thrown) => {
    await expectOutcome(thrown, false);
  });
});

describe("a network error behind Node's proxy", () => {
  const refused = (address: string, port = 3128) =>
    fault({ code: 'ECONNREFUSED', syscall: 'connect', address, port });
  const named = 'http://user:secret@proxy.test:3128';
  const numbered = 'http://user:secret@127.0.0.1:3128/';
  const withEnv = (variables: Record<string, string>) => {
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'NODE_USE_ENV_PROXY']) {
      vi.stubEnv(name.toLowerCase(), '');
      vi.stubEnv(name, '');
    }
    const all = { NODE_USE_ENV_PROXY: '1', ...variables };
    Object.entries(all).forEach(([name, value]) => vi.stubEnv(name, value));
  };
  afterEach(() => void vi.unstubAllEnvs());

  it.each<[string, Record<string, string>, unknown]>([
    ['the proxy refused the connection', { HTTPS_PROXY: numbered }, refused('127.0.0.1')],
    [
      'the proxy, given by name, refused the connection',
      { HTTPS_PROXY: named },
      refused('10.0.0.1'),
    ],
    [
      'the name of the proxy was not found',
      { HTTPS_PROXY: named },
      fault({ code: 'ENOTFOUND', hostname: 'proxy.test' }),
    ],
    [
      'there is no route to the proxy',
      { HTTPS_PROXY: named },
      fault({ code: 'EHOSTUNREACH', syscall: 'connect', address: '10.0.0.1', port: 3128 }),
    ],
    [
      'both addresses refused',
      { https_proxy: named },
      new AggregateError([refused('::1'), refused('127.0.0.1')]),
    ],
    ['only HTTP_PROXY is set', { HTTP_PROXY: 'http://[::1]' }, refused('::1', 80)],
    [
      'NO_PROXY names others',
      { HTTPS_PROXY: numbered, NO_PROXY: 'other.test, x.messaging.test, messaging.test:80' },
      refused('127.0.0.1'),
    ],
  ])('proves that nothing was sent if %s', async (_, variables, thrown) => {
    withEnv(variables);
    const error = await expectOutcome(new TypeError('fetch failed', { cause: thrown }), true);
    expect(error?.message).toMatch(
      /could not reach the proxy (proxy\.test:3128|127\.0\.0\.1:3128|\[::1\]:80) \(E/,
    );
    expect(`${JSON.stringify(error)} ${error?.message}`).not.toContain('secret');
  });

  it.each<[string, Record<string, string>, unknown]>([
    [
      'the proxy is switched off',
      { HTTPS_PROXY: numbered, NODE_USE_ENV_PROXY: '' },
      refused('127.0.0.1'),
    ],
    ['another address refused', { HTTPS_PROXY: numbered }, refused('127.0.0.2')],
    ['another port refused', { HTTPS_PROXY: numbered }, refused('127.0.0.1', 3129)],
    [
      'another name was not found',
      { HTTPS_PROXY: named },
      fault({ code: 'ENOTFOUND', hostname: 'x.test' }),
    ],
    ['one address was reset', { HTTPS_PROXY: named }, new AggregateError([refused('::1'), reset])],
    [
      'NO_PROXY names the host',
      { HTTPS_PROXY: numbered, NO_PROXY: 'a.test,messaging.test' },
      refused('127.0.0.1'),
    ],
    [
      'NO_PROXY names its domain',
      { HTTPS_PROXY: numbered, no_proxy: '.test' },
      refused('127.0.0.1'),
    ],
    ['NO_PROXY names all hosts', { HTTPS_PROXY: numbered, NO_PROXY: '*' }, refused('127.0.0.1')],
    [
      'the connection to the proxy broke',
      { HTTPS_PROXY: numbered },
      fault({ code: 'ECONNRESET', syscall: 'read' }),
    ],
    ['there is no proxy', {}, refused('127.0.0.1')],
  ])('proves nothing if %s', async (_, variables, thrown) => {
    withEnv(variables);
    await expectOutcome(new TypeError('fetch failed', { cause: thrown }), false);
  });
});

async function expectOutcome(
  thrown: unknown,
  isProof: boolean,
): Promise<PostreelError | undefined> {
  let requests = 0;
  const client = messagingOver(
    () => {
      requests++;
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- some throw anything
      return Promise.reject(thrown);
    },
    { retries: 0 },
  );
  const { error } = await client.send(mail).safe();
  const [code, outcome] = isProof ? ['NOT_CONNECTED', 'not-sent'] : ['CONNECTION_LOST', 'unknown'];
  const isLimit = error?.code === 'TIMEOUT'; // a code of undici
  expect([error?.code, error?.outcome]).toEqual([isLimit ? 'TIMEOUT' : code, outcome]);
  expect(requests).toBe(1);
  return error;
}

/** The message is misleading on purpose. */
function fault(facts: Facts): Error {
  const misleadingMessage = 'tcp connect error: connection refused, invalid peer certificate';
  return Object.assign(new Error(misleadingMessage), facts);
}

function codeOf(Kind: unknown): string | undefined {
  try {
    return new (Kind as new () => { code?: string })().code;
  } catch {
    return undefined; // some constructors need arguments
  }
}
