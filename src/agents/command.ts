import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileJournal } from 'postreel/node';
import { createClock, startFakeServer, type FakeServer } from 'postreel/testing';
import { createCommand, createOption, parseWholeNumber } from '../cli/command.js';
import { Context } from '../cli/context.js';
import { removeKeys } from '../cli/environment.js';
import { CommandEnd, exitCodes } from '../cli/exit-codes.js';
import { createPage } from '../cli/fake/page-server.js';
import type * as Agents from './server.js';

interface McpInput {
  readonly fake?: boolean;
  readonly folder: string;
  readonly readOnly?: boolean;
  readonly tools?: string;
  readonly port?: number;
}

const journalName = 'postreel-agent.jsonl';

/** `postreel mcp` */
export const agents = createCommand<McpInput>({
  name: 'mcp',
  about: 'let an agent use both services by the Model Context Protocol',
  more: 'It talks over stdin and stdout. Whatever mails, spends, deletes, or changes who is mailed is planned first, and done after a person has said yes: in their client, or on a page of this machine that opens in their browser (BROWSER=none keeps it from opening). Needs @modelcontextprotocol/sdk.',
  options: [
    createOption(
      '--fake',
      'a rehearsal: use local fakes of both services, with a web page to look at',
    ),
    createOption(
      '--folder <path>',
      `the one folder whose files tools may use; what was done is written there, to ${journalName}`,
    ).default('.'),
    createOption('--read-only', 'offer only the tools that change nothing'),
    createOption(
      '--tools <names>',
      'offer only these tools, separated by commas; carry_out comes with any plan',
    ),
    createOption(
      '--port <number>',
      'port of the page where you say yes (default: any free one)',
      parseWholeNumber(1, 65_535),
    ),
  ],
  examples: [
    'mcp',
    'mcp --fake',
    'mcp --read-only',
    'mcp --tools find_contacts,plan_email',
    'mcp --folder ./shared --port 4020',
  ],
  run: serveAgent,
});

async function serveAgent(input: McpInput, context: Context): Promise<void> {
  const { folder, readOnly, tools, port } = input;
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) {
    throw new CommandEnd(
      'usage',
      `There is no folder ${folder}. Name an existing one with --folder.`,
    );
  }
  const { serve } = await loadServer();
  const server = input.fake === true ? await startRehearsal(context) : undefined;
  const own = server === undefined ? context : contextOf(server, context);
  try {
    await serve({
      context: own,
      folder,
      port,
      choice: { isReadOnly: readOnly, only: tools?.split(',').map((name) => name.trim()) },
      journal: fileJournal(join(folder, journalName)),
      guides: join(dirname(manifestPath()), 'docs'),
      redact: (text) => removeKeys(text, own.environment),
      ...(server && { fake: server }),
    });
  } finally {
    await server?.close();
  }
  // End the process here: a request still in flight would keep it running.
  process.exit(exitCodes.done);
}

/** Loads the server with its SDK, a peer that only this command needs. */
async function loadServer(): Promise<typeof Agents> {
  const sdk = await import('@modelcontextprotocol/sdk/server/mcp.js').catch(ignoreAbsence);
  // Version 1.13 added `registerResource()`, and also elicitation, by which the server asks a person.
  if (sdk === undefined || !('registerResource' in sdk.McpServer.prototype)) {
    throw new CommandEnd(
      'configuration',
      'This command needs @modelcontextprotocol/sdk 1.13 or later: npx -p postreel -p @modelcontextprotocol/sdk postreel mcp',
    );
  }
  return import('./server.js');
}

/** Returns `undefined` if the package is not installed, or so old that it does not have this path. */
function ignoreAbsence(error: NodeJS.ErrnoException): undefined {
  if (!['ERR_MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'].includes(error.code ?? '')) {
    throw error;
  }
}

async function startRehearsal({ output }: Context): Promise<FakeServer> {
  const clock = createClock({ mode: 'real' });
  const started: { server?: FakeServer } = {};
  const server = await startFakeServer({
    messaging: { clock },
    media: { clock, durations: () => '15s' },
    ...createPage(() => started.server),
  });
  started.server = server;
  server.messaging.seed({ contacts: 20, emails: 20, events: 20, campaigns: 2, templates: 2 });
  output.note(`A rehearsal with local fakes. Web page: ${server.url}/`);
  return server;
}

function contextOf({ messaging, media }: FakeServer, context: Context): Context {
  const environment = {
    MESSAGING_BASE_URL: messaging.baseUrl,
    MESSAGING_API_KEY: messaging.secretKey,
    MEDIA_BASE_URL: media.baseUrl,
    MEDIA_API_KEY: media.apiKey,
  };
  const { streams, signal, output } = context;
  return new Context({ environment, streams, signal, output });
}

function manifestPath(): string {
  return createRequire(import.meta.url).resolve('postreel/package.json');
}
