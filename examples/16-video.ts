// Makes one video and saves it.
// Run: npx tsx --env-file=.env 16-video.ts
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MediaClient } from 'postreel';

const media = new MediaClient();

const job = await media.generate.video({
  workflowType: 'idea',
  prompt: 'Why cats purr',
  voiceId: 'voice_1',
  aspectRatio: '9:16',
  duration: 1, // in minutes
});
console.log(JSON.stringify(job)); // `media.job(…)` finds the job again after a restart

const file = await job.waitForFile({
  onUpdate: ({ status, progress }) => console.log(status, progress ?? ''),
});
const path = join(tmpdir(), `${job.fileId}.mp4`);
await writeFile(path, await file.stream());
console.log(`saved ${path}`);
