import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ResourceTemplate, type McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { FakeServer } from 'postreel/testing';

/** The sources of the server's resources. */
export interface Resources {
  /** The folder with the guides of the package. */
  readonly guides: string;
  /** Set in a rehearsal. */
  readonly fake?: FakeServer;
}

/** Adds the guides as resources, and in a rehearsal the emails. */
export function addResources(mcp: McpServer, { guides, fake }: Resources): void {
  const list = async () => ({
    resources: (await listGuides(guides)).map((name) => ({
      uri: `postreel://guides/${name}`,
      name,
      mimeType: 'text/markdown',
    })),
  });
  const template = new ResourceTemplate('postreel://guides/{name}', { list });
  const about = { title: 'Guides of Postreel', mimeType: 'text/markdown' };
  mcp.registerResource('guides', template, about, async (uri, { name }) => {
    const known = (await listGuides(guides)).find((guide) => guide === name);
    if (known === undefined) {
      throw new Error(`There is no guide ${String(name)}.`);
    }
    const text = await readFile(join(guides, `${known}.md`), 'utf8');
    return { contents: [{ uri: uri.href, mimeType: 'text/markdown', text }] };
  });
  if (fake !== undefined) {
    const outbox = { title: 'Emails of this rehearsal', mimeType: 'application/json' };
    mcp.registerResource('outbox', 'postreel://fake/outbox', outbox, (uri) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: JSON.stringify(fake.messaging.outbox),
        },
      ],
    }));
  }
}

async function listGuides(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(() => []);
  return files.filter((file) => file.endsWith('.md')).map((file) => file.slice(0, -3));
}
