// Makes videos with a journal on the disk. After a crash, run it again: it goes on where it was.
// Run: npx tsx --env-file=.env 23-resume-after-a-crash.ts
import { join } from 'node:path';
import { isPostreelError, MediaClient } from 'postreel';
import { fileJournal, saveTo } from 'postreel/node';

const folder = process.env.VIDEO_FOLDER ?? '.'; // one that is kept: the journal is in it
const media = new MediaClient({ journal: fileJournal(join(folder, 'videos.jsonl')) });

const topics = ['Why cats purr', 'Why dogs bark', 'Why birds sing'];
const videos = topics.map((prompt) => ({
  workflowType: 'idea' as const,
  workflowFormat: 'video' as const,
  prompt,
  voiceId: 'voice_1',
  duration: 1, // minutes
}));

// By its name the queue knows what an earlier run has submitted: that is waited for, not made again.
for await (const { index, file, error } of media.queue(videos, { name: 'why' })) {
  const topic = topics[index] ?? '';
  if (file) {
    const path = join(folder, `${topic}.mp4`);
    await saveTo(file, path);
    console.log(`saved ${path}`);
  } else if (isPostreelError(error) && error.code === 'OUTCOME_UNKNOWN') {
    // The crash came during the very call. Nothing is ever made twice, so a person decides.
    console.log(`${topic}: look for it in the workspace`);
  } else {
    console.log(`${topic}: failed`, error);
  }
}

// What else the journal knows of, from calls of `generate.video()` and `generate.audio()`.
const { jobs } = await media.resumeAll();
for (const job of jobs) {
  await saveTo(await job.waitForFile(), join(folder, job.fileId));
}
