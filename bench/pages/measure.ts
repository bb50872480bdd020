import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagingClient, Page } from '../../src/index.js';

/** The work of a consumer on each page. */
export type Work = () => void | Promise<void>;

/** A way to read all contacts. */
type Walk = (client: MessagingClient, work: Work) => Promise<number>;

export const works: Readonly<Record<'blocks' | 'awaits', Work>> = {
  blocks() {
    const end = performance.now() + 5;
    while (performance.now() < end) {
      // keeps the CPU busy, as a parser does
    }
  },
  awaits: () => sleep(5),
};

const size = 100;

/** One page after the other, as people write it without an iterator. */
export const readPageByPage: Walk = async (client, work) => {
  let count = 0;
  for (let page: Page<unknown> | undefined = await client.contacts.list({ limit: size }); page;) {
    count += page.items.length;
    await work();
    page = await page.nextPage();
  }
  return count;
};

/** The iterator of the package. The work is done at the first item of each page. */
export const readWithIterator: Walk = async (client, work) => {
  let count = 0;
  for await (const contact of client.contacts.list({ limit: size })) {
    if (count % size === 0) {
      await work();
    }
    count += contact.id === '' ? 0 : 1;
  }
  return count;
};

/** The duration of a walk, in milliseconds. */
export async function time(walk: Walk, client: MessagingClient, work: Work): Promise<number> {
  const startedAt = performance.now();
  const count = await walk(client, work);
  if (count !== contacts) {
    throw new Error(`${count} of ${contacts} contacts came`);
  }
  return performance.now() - startedAt;
}

export const contacts = 4_000;

/** Starts the service in a separate process. */
export async function startService(
  count = contacts,
  delayMs = 5,
): Promise<{ url: string; process: ChildProcess }> {
  const script = join(import.meta.dirname, 'service.ts');
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', script, String(count), String(delayMs)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { url: `http://127.0.0.1:${Number(line.toString())}`, process: child };
}
