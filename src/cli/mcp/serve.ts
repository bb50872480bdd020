import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { MediaClient } from 'postreel/media';
import type { MessagingClient } from 'postreel/messaging';
import type { Context } from '../context.js';
import { openApprovalPage } from './approval-page.js';
import { Desk } from './desk.js';
import { Folder } from './folder.js';
import type { Resources } from './resources.js';
import { createServer, type ServerParts } from './server.js';
import { ServiceData } from './service-data.js';
import type { Services } from './tools/tool.js';

/** What the command gives. */
export interface ServeOptions extends Resources, Pick<ServerParts, 'redact'> {
  readonly context: Context;
  readonly folder: string;
}

/** Serves one client on stdin and stdout until it leaves, or until Ctrl+C. */
export async function serve({
  context,
  folder,
  redact,
  ...resources
}: ServeOptions): Promise<void> {
  const { output, signal, streams } = context;
  const data = new ServiceData();
  const desk = new Desk(await servicesOf(context, folder, data), data);
  const page = await openApprovalPage(desk.plans);
  output.note(`Where your client cannot ask you, say yes to plans here: ${page.url}`);
  const mcp = createServer({ desk, page, redact, ...resources });
  try {
    const closed = new Promise<void>((resolve) => {
      mcp.server.onclose = resolve;
    });
    await mcp.connect(new StdioServerTransport(streams.stdin, streams.stdout));
    const left = once(streams.stdin, 'end', { signal });
    await Promise.race([closed, left]).catch(() => undefined); // Ctrl+C is how it ends
  } finally {
    await mcp.close();
    await page.close();
  }
}

/** Tools of a service that is not set up say so; the others work. */
async function servicesOf(context: Context, folder: string, data: ServiceData): Promise<Services> {
  const fetch = data.watching(globalThis.fetch);
  const [messaging, media] = await Promise.allSettled([
    context.messaging({ fetch }),
    context.media({ fetch }),
  ]);
  return {
    get messaging(): MessagingClient {
      return valueOf(messaging);
    },
    get media(): MediaClient {
      return valueOf(media);
    },
    folder: new Folder(folder),
    finished: new Map(),
  };
}

function valueOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') {
    throw settled.reason;
  }
  return settled.value;
}
