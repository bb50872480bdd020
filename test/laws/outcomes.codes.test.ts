import { constants } from 'node:os';
import { errors as undiciErrors } from 'undici';
import { expect, it } from 'vitest';
import { isConnectFault } from '../../src/transport/response/network-error.js';
import { messagingOver } from '../support/clients.js';
import { holdLaw, type Subject } from './exceptions.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

const url = 'https://messaging.test/v1/send';

/** Every code of the system, of undici, of names and of TLS. */
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

/** The codes that only a connection can have that never opened. */
const ofConnecting =
  /^(ECONNREFUSED|ENOTFOUND|EAI_(AGAIN|NODATA|NONAME)|UND_ERR_CONNECT_TIMEOUT|CERT_(HAS_EXPIRED|NOT_YET_VALID)|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE)|ERR_TLS_CERT_ALTNAME_INVALID|ConnectionRefused|FailedToOpenSocket|DNSResolveFailed)$/;

const systemCalls = [undefined, 'getaddrinfo', 'connect', 'read', 'write', 'open', 'shutdown'];

it('3: a code is `not-sent` only where nothing can have left, whatever its words', async () => {
  const subjects = [...new Set(codes)].flatMap((code) =>
    systemCalls.map((syscall): Subject => {
      const isProof =
        syscall === undefined
          ? ofConnecting.test(code)
          : syscall === 'connect' || syscall === 'getaddrinfo';
      return {
        name: `${code} of ${syscall ?? 'no call'}`,
        check: () => {
          const isProven = shapesOf({ code, syscall }).map((fault) => isConnectFault(fault, url));
          expect(isProven).toEqual([isProof, isProof]);
        },
      };
    }),
  );
  await holdLaw('an outcome is proven, by codes', subjects);
});

it('3: a call ends with the outcome that its code proves, and is not repeated', async () => {
  const subjects = [...new Set(codes)].map((code): Subject => ({
    name: code,
    check: () => endsAs(code),
  }));
  await holdLaw('an outcome is proven, by calls', subjects);
});

async function endsAs(code: string) {
  let requests = 0;
  const [, fault] = shapesOf({ code, syscall: undefined });
  const options = { retries: 0 };
  const client = messagingOver(() => (requests++, Promise.reject(fault)), options);
  const { error } = await client.send(mail).safe();
  const outcome = ofConnecting.test(code) ? 'not-sent' : 'unknown';
  expect([error?.outcome, requests]).toEqual([outcome, 1]);
}

/** The fault itself, and as the cause of another; the words mislead. */
function shapesOf(facts: { code: string; syscall: string | undefined }): [Error, Error] {
  const words = 'tcp connect error: connection refused, invalid peer certificate';
  const cause = Object.assign(new Error(words), facts);
  return [cause, new TypeError(words, { cause })];
}

function codeOf(Kind: unknown): string | undefined {
  try {
    return new (Kind as new () => { code?: string })().code;
  } catch {
    return undefined; // some need arguments
  }
}
