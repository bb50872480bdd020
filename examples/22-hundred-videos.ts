// Makes a hundred videos within every limit of the service, and draws their progress.
// Run: npx tsx --env-file=.env 22-hundred-videos.ts
import { MediaClient, type QueueProgress, type VideoJob } from 'postreel';
import { fileJournal } from 'postreel/node';

const media = new MediaClient({ journal: fileJournal('cats.jsonl') });
const total = 100;

function* videos(): Generator<VideoJob> {
  for (let number = 1; number <= total; number++) {
    yield {
      workflowType: 'idea',
      prompt: `Fact ${number} about cats`,
      voiceId: 'voice_1',
      duration: 1, // in minutes
      fileName: `Cats ${number}`,
    };
  }
}

function draw({ done, failed, pending }: QueueProgress): void {
  const width = 30;
  const bar = '█'.repeat(((done + failed) / total) * width).padEnd(width, '░');
  process.stdout.write(`\r${bar} ${done} of ${total}, ${pending} in progress   `);
}

const urls: string[] = [];
// With a name and a journal, a second run continues where this one ended.
const queue = media.queue(videos(), { name: 'cats', onProgress: draw });
for await (const { index, file, error } of queue) {
  if (file) {
    urls[index] = file.url;
  } else {
    console.error(`\nvideo ${index + 1} failed`, error);
  }
}
console.log(`\n${urls.length} videos, the first is ${urls[0] ?? 'missing'}`);
