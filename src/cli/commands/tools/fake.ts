import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import type { Command } from 'commander';
import {
  createClock,
  type Clock,
  startFakeServer,
  type FakeServer,
  type FakeServerOptions,
} from 'postreel/testing';
import type { Context } from '../../context.js';
import { CommandEnd } from '../../exit-codes.js';
import { createPage } from '../../fake/page-server.js';
import { lineOf } from '../../fake/request-log.js';
import { examples, positiveNumber, wholeNumber } from '../options.js';
import { messageOf } from '../../../core/errors.js';
import { isRecord } from '../../../core/values.js';

interface Flags {
  readonly port?: number;
  readonly host: string;
  readonly speed: number;
  readonly seed?: number;
  readonly behavior?: string;
  readonly log: boolean;
}

const largestPort = 65_535;
const usualPort = 4010;

/** `postreel fake` */
export function addFake(program: Command, context: Context): void {
  program
    .command('fake')
    .summary('start fakes of both services, with a web page that shows what they hold')
    .description(
      'start fakes of both services, with a web page that shows what they hold. Prints addresses and keys as the lines of an .env file: they are the same at every start on the same port. Requests are logged to stderr. Ctrl+C stops it.',
    )
    .option(
      '--port <number>',
      'port; 0 takes any free one (default: 4010, or the next free one)',
      wholeNumber(0, largestPort),
    )
    .option('--host <address>', 'address to listen on; 0.0.0.0 for the whole network', '127.0.0.1')
    .option('--speed <factor>', 'how many times faster their time runs', positiveNumber, 1)
    .option(
      '--seed <contacts>',
      'make up that many contacts, and emails and events',
      wholeNumber(1),
    )
    .option('--behavior <path>', 'how they behave, from `postreel probe`')
    .option('--no-log', 'print no requests')
    .addHelpText(
      'after',
      examples(
        'fake',
        'fake --port 4010 --speed 60 >> .env',
        'fake --seed 100 --behavior behavior.json',
      ),
    )
    .action((flags: Flags) => runFake(flags, context));
}

async function runFake(flags: Flags, context: Context): Promise<void> {
  const { speed, seed, log, host } = flags;
  const { output, signal } = context;
  const clock = createClock({ mode: 'real', speed });
  const started: { server?: FakeServer } = {};
  const options = optionsOf(flags, clock);
  const server = await listen(flags, (port) =>
    startFakeServer({
      port,
      host,
      ...options,
      ...createPage(() => started.server),
      onEnd: (exchange) => {
        const text = log ? lineOf(exchange, context) : undefined;
        if (text !== undefined) {
          output.note(text);
        }
      },
    }),
  );
  started.server = server;
  if (seed !== undefined) {
    server.messaging.seed({ contacts: seed, emails: seed, events: seed, campaigns: 2 });
  }
  output.raw(environmentOf(server));
  output.note(`Web page: ${server.url}/`);
  for (const address of host === '0.0.0.0' || host === '::' ? networkAddresses(server.url) : []) {
    output.note(`On the network: ${address}/`);
  }
  await stopped(signal);
  await server.close();
}

/** Without `--port`, a second fake takes the next port. */
async function listen(
  { port: given }: Flags,
  start: (port: number) => Promise<FakeServer>,
): Promise<FakeServer> {
  for (let port = given ?? usualPort; ; port++) {
    try {
      return await start(port);
    } catch (error) {
      const isTaken = isRecord(error) && error['code'] === 'EADDRINUSE';
      if (!isTaken || given !== undefined || port === usualPort + 9) {
        throw error;
      }
    }
  }
}

/** Ctrl+C is how the command ends: its exit code is 0. */
async function stopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await once(signal, 'abort');
  }
}

type Options = Pick<FakeServerOptions, 'messaging' | 'media'>;

function optionsOf({ behavior }: Flags, clock: Clock): Options {
  if (behavior === undefined) {
    return { messaging: { clock }, media: { clock } };
  }
  try {
    // Checked by the fakes, which refuse a setting that they do not know.
    const { messaging, media } = JSON.parse(readFileSync(behavior, 'utf8')) as Record<
      'messaging' | 'media',
      object | undefined
    >;
    return {
      messaging: { clock, ...(messaging && { behavior: messaging }) },
      media: { clock, ...(media && { behavior: media }) },
    };
  } catch (error) {
    const why = messageOf(error);
    throw new CommandEnd('rejected', `${behavior} cannot be used: ${why}`);
  }
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

/** The addresses under which other machines see this one. */
function networkAddresses(url: string): string[] {
  const { port } = new URL(url);
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => `http://${address}:${port}`);
}
