import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { createClock, startFakeServer, type FakeServer, type Service } from 'postreel/testing';
import {
  createCommand,
  parseDuration,
  createOption,
  parsePositiveNumber,
  parseWholeNumber,
} from '../command.js';
import type { Context } from '../context.js';
import { bytesOf, textOf } from '../environment.js';
import { createPage } from '../fake/page-server.js';
import { lineOf } from './request-log.js';

interface FakeInput {
  readonly port: number;
  readonly host: string;
  readonly speed: number;
  readonly jobTime: string;
  readonly seed?: number;
  readonly env?: string;
  readonly log: boolean;
}

const largestPort = 65_535;
const usualPort = 4010;

/** `postreel fake` */
export const fake = createCommand<FakeInput>({
  name: 'fake',
  about: 'start fakes of both services, with a web page that shows what they hold',
  more: 'Prints addresses and keys as the lines of an .env file, or writes them there: they are the same at every start on the same port. Time runs as on this machine, but a media file is ready after 15 seconds. Requests are logged to stderr. Ctrl+C stops it.',
  options: [
    createOption(
      '--port <number>',
      'port; 0 takes any free one',
      parseWholeNumber(0, largestPort),
      usualPort,
    ),
    createOption('--host <address>', 'address to listen on; 0.0.0.0 for the whole network').default(
      '127.0.0.1',
    ),
    createOption('--job-time <duration>', 'how long a media file takes', parseDuration, '15s'),
    createOption(
      '--speed <factor>',
      'how many times faster their time runs',
      parsePositiveNumber,
      1,
    ),
    createOption(
      '--seed <contacts>',
      'make up that many contacts, and emails and events',
      parseWholeNumber(1),
    ),
    createOption(
      '--env <path>',
      'write addresses and keys into this .env file, instead of printing them',
    ),
    createOption('--no-log', 'print no requests'),
  ],
  examples: ['fake', 'fake --env .env', 'fake --port 4020 --job-time 2m', 'fake --seed 100'],
  run: async ({ port, host, speed, jobTime, seed, env, log }, context) => {
    const { output, signal } = context;
    const clock = createClock({ mode: 'real', speed });
    const started: { server?: FakeServer } = {};
    let hasNotedLimit = false;
    const server = await startFakeServer({
      port,
      host,
      messaging: { clock },
      media: { clock, durations: () => jobTime },
      ...createPage(() => started.server),
      onEnd: (exchange) => {
        const text = log ? lineOf(exchange, context) : undefined;
        if (text !== undefined) {
          output.note(text);
        }
        if (
          log &&
          !hasNotedLimit &&
          started.server &&
          isGenerateLimitReached(started.server.media)
        ) {
          hasNotedLimit = true;
          output.note(limitNote);
        }
      },
    });
    started.server = server;
    server.messaging.seed({ samples: true });
    if (seed !== undefined) {
      server.messaging.seed({ contacts: seed, emails: seed, events: seed, campaigns: 2 });
    }
    try {
      reportSettings(environmentOf(server), env, context);
      output.note(`Web page: ${server.url}/`);
      const isOpen = host === '0.0.0.0' || host === '::';
      for (const address of isOpen ? listNetworkAddresses(server.url) : []) {
        output.note(`On the network: ${address}/`);
      }
      await waitForStop(signal);
    } finally {
      await server.close();
    }
  },
});

const limitNote =
  'The media service takes 10 generate calls in 10 minutes, and the last of them was just made. A client that keeps to this limit now waits; that is not an error.';

/** Whether the next generate call has to wait. */
function isGenerateLimitReached({ requests, clock }: Service): boolean {
  const since = clock.now() - 600_000;
  const recent = requests.filter(
    ({ endpoint, status, at }) =>
      endpoint?.startsWith('POST /v1/generate/') === true && status === 200 && at > since,
  );
  return recent.length >= 10;
}

/** Waits for Ctrl+C, which ends this command with the exit code 0. */
async function waitForStop(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await once(signal, 'abort');
  }
}

function reportSettings(lines: string, path: string | undefined, { output }: Context): void {
  if (path === undefined) {
    output.raw(lines);
    return;
  }
  const isNew = !existsSync(path);
  const { text, encoding } = textOf(isNew ? Buffer.alloc(0) : readFileSync(path));
  writeFileSync(path, bytesOf(replaceBlock(text, lines), encoding), isNew ? { mode: 0o600 } : {});
  output.note(`Wrote the addresses and keys of the fakes to ${path}.`);
}

const firstLine =
  '# The fakes of `npx postreel fake`: delete these lines to use your own settings again.';
const lastLine = '# End of the fakes.';

/**
 * Puts the settings of the fakes at the end of a text, where they override earlier lines, in place of those of an
 * earlier run.
 */
function replaceBlock(text: string, lines: string): string {
  const begin = text.indexOf(firstLine);
  const end = text.indexOf(lastLine, begin);
  const hasBlock = begin >= 0 && end >= 0;
  const others = hasBlock
    ? text.slice(0, begin) + text.slice(end + lastLine.length).replace(/^\r?\n/, '')
    : text;
  const isClosed = others === '' || others.endsWith('\n');
  return `${others}${isClosed ? '' : '\n'}${firstLine}\n${lines}${lastLine}\n`;
}

function environmentOf({ messaging, media }: FakeServer): string {
  const variables = {
    MESSAGING_BASE_URL: messaging.baseUrl,
    MESSAGING_API_KEY: messaging.secretKey,
    MESSAGING_PUBLIC_KEY: messaging.publicKey,
    MEDIA_BASE_URL: media.baseUrl,
    MEDIA_API_KEY: media.apiKey,
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  return lines.join('');
}

/** Lists the addresses of this machine in its networks. */
function listNetworkAddresses(url: string): string[] {
  const { port } = new URL(url);
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => `http://${address}:${port}`);
}
