// Makes videos while other processes share its rate budget on the disk, and prints the ids of the
// files.
import { MediaClient } from 'postreel';
import { fileRateBudgetStore } from 'postreel/node';

const [, , path, name, count, limits] = process.argv;
const media = new MediaClient({
  rateLimit: { ...JSON.parse(limits), store: fileRateBudgetStore(path) },
  timeout: 600_000, // half a minute of real time
});
const films = Array.from({ length: Number(count) }, (_, index) => ({
  workflowType: 'idea',
  workflowFormat: 'video',
  prompt: `${name} ${index}`,
  voiceId: 'voice_1',
}));

for await (const { file, error } of media.queue(films)) {
  if (error) {
    throw error;
  }
  console.log(file.fileId);
}
