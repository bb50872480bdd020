import { readFile } from 'node:fs/promises';
import { transform } from 'esbuild';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import type { Report, Services } from './smoke.js';

/** Fakes with the faults that the smoke test needs. */
export interface World {
  readonly services: Services;
  /** The services, for comparing with their records. */
  readonly server: FakeServer;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const media = { durations: () => '100ms', queueTime: 0, fileBytes: 4_096 };
  const server = await startFakeServer({ media });
  server.messaging.seed({ contacts: 5 });
  server.messaging.fail('GET /templates', { status: 503 });
  // Twice, because Bun and Deno repeat a read by themselves, unnoticed.
  server.messaging.fail('GET /segments', { drop: true, times: 2 });
  server.messaging.fail('POST /v1/verify', { status: 429, retryAfter: 0 });
  server.messaging.fail('POST /v1/send', { loseAnswer: true, after: 1 });
  server.messaging.fail('POST /campaigns/{id}/duplicate', { loseAnswer: true });
  server.messaging.fail('GET /workflows', { hang: true });
  const services = {
    messagingUrl: server.messagingUrl,
    messagingKey: server.messaging.secretKey,
    mediaUrl: server.mediaUrl,
    mediaKey: server.media.apiKey,
    unusedUrl: 'http://127.0.0.1:2', // a port without a server
  };
  return { services, server, close: () => server.close() };
}

/** How often the calls with a lost response arrived, including the one successful mail. */
export function arrivals({ server }: World): readonly [mails: number, copies: number] {
  const count = (endpoint: string) =>
    server.messaging.requests.filter((request) => request.endpoint === endpoint).length;
  return [count('POST /v1/send'), count('POST /campaigns/{id}/duplicate')];
}

/** The report of the smoke test in every runtime. */
export const expected: Report = {
  sent: true,
  emails: 6, // each recipient of a mail becomes a contact
  job: 'string',
  lists: [0, 0],
  verified: true,
  retried: ['GET /templates', 'GET /segments', 'POST /v1/verify'],
  missing: [['NotFoundError', 404, 'rejected', true], true],
  // `undefined` is `null` in JSON.
  lost: [['ConnectionError', null, 'unknown', false], true],
  lostToo: ['ConnectionError', null, 'unknown', false],
  refused: [['ConnectionError', null, 'not-sent', false], true],
  invalid: [['InvalidRequestError', null, 'not-sent', false], true],
  aborted: 'enough',
  byteLength: 4_096,
};

/** The source of a program that runs the smoke test and prints its report. */
export async function programOf(kind: 'mjs' | 'cjs', services: Services): Promise<string> {
  const source = await readFile(new URL('smoke.ts', import.meta.url), 'utf8');
  const { code } = await transform(source, { loader: 'ts', target: 'es2022' });
  const body = code.replace(/^export /gm, '');
  const importCode = kind === 'mjs' ? `await import('postreel')` : `require('postreel')`;
  return `${body}
(async () => {
  const postreel = ${importCode};
  console.log(JSON.stringify(await smoke(postreel, ${JSON.stringify(services)})));
})();
`;
}
