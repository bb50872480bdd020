import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { saveTo } from 'postreel/node';
import { expect, it } from 'vitest';
import { serve } from '../../support/fake-server.js';

const download = 'GET /cdn/{file}';

// Saves a file, and prints a line once the first bytes have arrived.
const saver = (fileId: string, url: string, path: string) => `
  import { MediaFile } from 'postreel/media';
  import { saveTo } from 'postreel/node';
  const [fileId, url, path] = ${JSON.stringify([fileId, url, path])};
  await saveTo(new MediaFile(fileId, url, {}), path, {
    onProgress: ({ receivedBytes }) => receivedBytes > 200_000 && console.log('half'),
  });`;

it('saveTo() continues the download of a killed process, and leaves no other file in the folder', async () => {
  const { fakeMedia, media } = await serve({
    media: { fileBytes: 500_000, durations: () => 0 },
  });
  const folder = await mkdtemp(join(tmpdir(), 'postreel-killed-'));
  const path = join(folder, 'speech.mp3');
  try {
    const job = await media().generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
    const file = await job.waitForFile({ interval: 5 });
    fakeMedia.fail(download, { stall: true });
    await killAtHalf(saver(file.fileId, file.url, path));
    const parts = (await readdir(folder)).filter((name) => name.endsWith('.part'));
    expect(parts).toHaveLength(1);
    const { size } = await stat(join(folder, parts[0]!)); // half of the file, or a little less on a busy machine
    expect(size).toBeGreaterThan(150_000);

    await saveTo(file, path);
    const content = Buffer.from(fakeMedia.contentOf(job.fileId));
    expect((await readFile(path)).equals(content)).toBe(true);
    expect(await readdir(folder)).toEqual(['speech.mp3']);
    const ranges = fakeMedia.requests.flatMap(({ headers }) => headers['range'] ?? []);
    expect(ranges).toEqual([`bytes=${size - 1}-`]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

function killAtHalf(script: string): Promise<void> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.once('data', () => child.kill('SIGKILL'));
  return new Promise((resolve) => {
    child.on('close', () => resolve());
  });
}
