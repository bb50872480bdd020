// Makes videos with a journal on the disk. After a crash, run it again: it continues.
// Run: npx tsx --env-file=.env 23-resume-after-a-crash.ts
import { join } from 'node:path';
import { isPostreelError, MediaClient, type VideoJob } from 'postreel';
import { fileJournal, saveTo } from 'postreel/node';

const folder = process.env.VIDEO_FOLDER ?? '.'; // choose a permanent folder: the journal is in it
const media = new MediaClient({ journal: fileJournal(join(folder, 'videos.jsonl')) });

const topics = ['Why cats purr', 'Why dogs bark', 'Why birds sing'];
const videos = topics.map((prompt): VideoJob => {
  return { workflowType: 'idea', prompt, voiceId: 'voice_1', duration: 1 }; // in minutes
});

// The name identifies the queue of an earlier run: its submitted jobs are awaited, not made again.
for await (const { index, file, error } of media.queue(videos, { name: 'why' })) {
  const topic = topics[index] ?? '';
  if (file) {
    const path = join(folder, `${topic}.mp4`);
    await saveTo(file, path);
    console.log(`saved ${path}`);
  } else if (isPostreelError(error) && error.code === 'OUTCOME_UNKNOWN') {
    // The crash came between request and response. No video is ever made twice, so a person
    // decides.
    console.log(`${topic}: look for it in the workspace`);
  } else {
    console.log(`${topic}: failed`, error);
  }
}

// Calls whose jobs may exist: `resolve()` names their files, `dismiss()` says that there are none.
for (const { id, jobs } of (await media.journal.pending()).unknown) {
  console.log(`call ${id} may have made`, jobs);
}
