#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { probe } from './probe.js';
import { createClock } from '../testing/core/time/clock.js';
import { startFakeServer, type FakeServer } from '../testing/server.js';

const usage = `Usage: postreel fake [--port 4010] [--host 127.0.0.1] [--speed 60]
       postreel probe

fake starts fakes of both services and prints their addresses and keys as environment variables.
--speed makes their time run that many times faster. Ctrl+C stops them.

probe asks the services of MESSAGING_BASE_URL, MESSAGING_API_KEY, MEDIA_BASE_URL and MEDIA_API_KEY
read-only questions, prints how they behave where their documents are silent, and writes
behavior.json for the fakes. Keys, addresses and contents are not written.
`;

run(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(
    `postreel ${process.argv[2] ?? ''}: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
});

/** Runs the command that is named first. */
async function run(args: string[]): Promise<void> {
  if (args.length === 1 && args[0] === 'probe') {
    await probe(process.env, (line) => process.stdout.write(`${line}\n`));
    return;
  }
  await runFake(args);
}

/** The command `postreel fake`. */
async function runFake(args: string[]): Promise<void> {
  const choice = readArguments(args);
  if (choice === undefined) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  const { port, host, speed } = choice;
  const clock = createClock({ mode: 'real', speed });
  const server = await startFakeServer({ port, host, messaging: { clock }, media: { clock } });
  process.stdout.write(environmentOf(server));
  // The open socket keeps the process alive; without it, it ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void server.close());
  }
}

interface Choice {
  readonly port: number;
  readonly host: string;
  readonly speed: number;
}

function readArguments(args: string[]): Choice | undefined {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        port: { type: 'string', default: '4010' },
        host: { type: 'string', default: '127.0.0.1' },
        speed: { type: 'string', default: '1' },
      },
    });
    const choice = { port: Number(values.port), host: values.host, speed: Number(values.speed) };
    const isPort = Number.isInteger(choice.port) && choice.port >= 0 && choice.port < 65_536;
    const isFake = positionals.length === 1 && positionals[0] === 'fake';
    return isFake && isPort && choice.speed > 0 ? choice : undefined;
  } catch {
    return undefined;
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
