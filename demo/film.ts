import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileUpdate, GenerationJob, MediaClient } from 'postreel';
import { allowed, bar, chapter, say } from './terminal.js';

/** Makes two videos and a spoken text, and saves them. */
export async function makeFiles(media: MediaClient, isReal: boolean): Promise<void> {
  chapter('Make two videos and a spoken text, and save them');
  if (!(await allowed('This costs two videos and an audio', isReal))) {
    return;
  }
  const voiceId = process.env['DEMO_VOICE'] ?? 'voice_1';
  const videos = await media.generate.video({
    file: 'Postreel demo',
    payload: [
      { workflowType: 'idea', workflowFormat: 'video', prompt: 'Why cats purr', voiceId },
      { workflowType: 'script', workflowFormat: 'video', content: 'Cats sleep a lot.', voiceId },
    ],
  });
  const audio = await media.generate.audio({ content: 'Good morning!', voiceId });
  const folder = await mkdtemp(join(tmpdir(), 'postreel-demo-'));
  for (const job of [...videos, audio]) {
    await save(job, folder, isReal);
  }
}

async function save(job: GenerationJob, folder: string, isReal: boolean): Promise<void> {
  const onUpdate = ({ progress, status }: FileUpdate) =>
    bar(job.kind, status === 'success' ? 1 : (progress ?? 0) / 100, status);
  const file = await job.waitForFile({ onUpdate, ...(!isReal && { interval: 250 }) });
  const path = join(folder, `${job.fileId}.${job.kind === 'video' ? 'mp4' : 'mp3'}`);
  await writeFile(path, await file.stream());
  say(`saved ${path}`);
}
