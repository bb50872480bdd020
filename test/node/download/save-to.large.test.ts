import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { arrivals, serve } from '../../support/fake-server.js';

const run = promisify(execFile);
const fileBytes = 200_000_000;
const cuts = 5;
// Node collects the buffers of sockets only after they reach 64 MB, for files of any size.
const maxGrownBytes = 80_000_000;

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-large-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('saveTo() saves 200 MB over five broken connections, byte for byte and with flat memory', async () => {
  const { fakeMedia, media } = await serve({ media: { fileBytes, durations: () => 0 } });
  const job = await media().generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
  const { url } = await job.waitForFile({ interval: 10 });
  // The first request is only a warm-up.
  fakeMedia.fail('GET /cdn/{file}', { truncate: true, after: 1, times: cuts });

  const path = join(folder, 'good-morning.mp3');
  const { stdout } = await run(process.execPath, ['test/support/node/save-child.mjs', url, path]);

  const { grownBytes } = JSON.parse(stdout) as { grownBytes: number };
  expect(grownBytes).toBeLessThan(maxGrownBytes);
  expect(arrivals(fakeMedia.requests, 'GET /cdn/{file}')).toBe(1 + cuts + 1);
  expect(await hashOf(createReadStream(path))).toBe(
    await hashOf([fakeMedia.contentOf(job.fileId)]),
  );
  expect(await readdir(folder)).toEqual(['good-morning.mp3']);
}, 120_000);

async function hashOf(chunks: AsyncIterable<Buffer> | Iterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) {
    hash.update(chunk);
  }
  return hash.digest('hex');
}
