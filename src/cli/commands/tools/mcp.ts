import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import type { Command } from 'commander';
import { createClock, startFakeServer, type FakeServer } from 'postreel/testing';
import { Context } from '../../context.js';
import { withoutKeys } from '../../environment.js';
import { createPage } from '../../fake/page-server.js';
import { loadServe } from '../../mcp/load-serve.js';
import { examples } from '../options.js';

interface Flags {
  readonly fake?: boolean;
  readonly folder: string;
}

/** `postreel mcp` */
export function addMcp(program: Command, context: Context): void {
  program
    .command('mcp')
    .summary('let an agent use both services by the Model Context Protocol')
    .description(
      'let an agent use both services by the Model Context Protocol, over stdin and stdout. Whatever mails, spends, deletes, or changes who is mailed is planned first, and done after a person has said yes: in their client, or on a page whose address is printed to stderr. Needs @modelcontextprotocol/sdk.',
    )
    .option('--fake', 'a rehearsal: use local fakes of both services, with a web page to look at')
    .option('--folder <path>', 'the one folder whose files tools may read and write', '.')
    .addHelpText('after', examples('mcp', 'mcp --fake', 'mcp --folder ./shared'))
    .action((flags: Flags) => runMcp(flags, context));
}

async function runMcp({ fake, folder }: Flags, context: Context): Promise<void> {
  const server = fake === true ? await rehearsal(context) : undefined;
  const own = server === undefined ? context : contextOf(server, context);
  try {
    const { serve } = await loadServe();
    await serve({
      context: own,
      folder,
      guides: join(dirname(manifestPath()), 'docs'),
      redact: (text) => withoutKeys(text, own.environment),
      ...(server && { fake: server }),
    });
  } finally {
    await server?.close();
  }
}

async function rehearsal({ output }: Context): Promise<FakeServer> {
  const clock = createClock({ mode: 'real', speed: 60 });
  const started: { server?: FakeServer } = {};
  const page = createPage(() => started.server);
  const server = await startFakeServer({ messaging: { clock }, media: { clock }, ...page });
  started.server = server;
  server.messaging.seed({ contacts: 20, emails: 20, events: 20, campaigns: 2 });
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
