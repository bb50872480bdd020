// Makes videos beside other processes that share a rate budget on the disk, and prints their ids.
import { MediaClient } from 'postreel';
import { fileRateBudgetStore } from 'postreel/node';

const [, , path, name, count, limits] = process.argv;
const media = new MediaClient({
  rateLimit: { ...JSON.parse(limits), store: fileRateBudgetStore(path) },
  timeout: 600_000, // half a minute, as fast as this process runs
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
