// Speaks a text and saves it.
// Run: npx tsx --env-file=.env 17-audio.ts
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GenerationFailedError, MediaClient } from 'postreel';

const media = new MediaClient();

const job = await media.generate.audio({
  content: 'Good morning from Postreel!',
  voiceId: 'voice_1',
  playbackRate: 1.1,
  pronunciations: [{ original: 'Postreel', replace: 'post real' }],
});

try {
  const file = await job.waitForFile();
  const path = join(tmpdir(), `${job.fileId}.mp3`);
  await writeFile(path, await file.stream());
  console.log(`saved ${path}`);
} catch (error) {
  if (!(error instanceof GenerationFailedError)) {
    throw error;
  }
  console.error(`failed after ${Math.round(error.elapsedMs / 1000)} s`);
}
