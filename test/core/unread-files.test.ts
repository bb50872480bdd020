import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** A file that was changed after it was opened. */
async function changed(): Promise<Blob> {
  const path = join(folder, 'people.csv');
  await writeFile(path, 'email\nann@example.com\n');
  const blob = await openAsBlob(path);
  await writeFile(path, 'email\nann@example.com\nbea@example.com\n');
  return blob;
}

it.each([
  [
    'contacts.import()',
    async () =>
      client()
        .contacts.import(await changed())
        .safe(),
  ],
  [
    'uploads.image()',
    async () =>
      client()
        .uploads.image(await changed())
        .safe(),
  ],
  [
    'send() with an attachment',
    async () =>
      client()
        .send({
          from: 'shop@example.com',
          to: 'ann@example.com',
          subject: 'Hi',
          body: '<p>Hi</p>',
          attachments: [{ content: await changed() }],
        })
        .safe(),
  ],
])(
  'a file that changed after it was opened: %s gives the reason of the runtime',
  async (_, run) => {
    const { error } = await run();
    expect(error?.message).toMatch(/could not be read/);
  },
);

function client() {
  const { fetch } = answering(async (request) => {
    await request.arrayBuffer();
    return { jobId: 'job_1' };
  });
  return messagingOver(fetch, { retries: 0 });
}
