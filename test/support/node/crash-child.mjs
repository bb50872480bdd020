// Makes many videos with a journal, and prints how each one ended. A test kills it now and then.
import { MediaClient } from 'postreel';
import { fileJournal } from 'postreel/node';

const [, , path, count] = process.argv;
const media = new MediaClient({
  journal: fileJournal(path),
  rateLimit: { limit: 10_000, windowMs: 1_000 },
  timeout: 6_000_000, // half a minute, as fast as this process runs
});
const films = Array.from({ length: Number(count) }, (_, index) => ({
  workflowType: 'idea',
  workflowFormat: 'video',
  prompt: `Film ${index}`,
  voiceId: 'voice_1',
  duration: 1 + (index % 5),
}));

const results = [];
for await (const { index, input, file, error } of media.queue(films, { name: 'batch' })) {
  results.push({ index, prompt: input.prompt, fileId: file?.fileId, error, code: error?.code });
}
const { unknown } = await media.journal.pending();
const unclear = unknown.flatMap(({ jobs }) => jobs.map(({ prompt }) => prompt));
console.log(JSON.stringify({ results, unclear }));
