// Makes many videos with a journal, and prints how each one ended. A test kills it now and then.
import { MediaClient } from 'postreel';
import { fileJournal, fileRateBudgetStore } from 'postreel/node';

const [, , folder, count] = process.argv;
const speed = Number(process.env.SPEED ?? 200);
const media = new MediaClient({
  journal: fileJournal(`${folder}/jobs.jsonl`),
  rateLimit: {
    limit: 10_000,
    windowMs: 1_000,
    store: fast(fileRateBudgetStore(`${folder}/slots`)),
  },
  timeout: 30_000 * speed, // half a minute, as fast as this process runs
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

/** The store's own clock is the machine's: its times have to run as fast as this process. */
function fast(store) {
  const limitsOf = ({ windowMs, ...limits }) => ({ ...limits, windowMs: windowMs / speed });
  return {
    take: async (group, limits, leaseMs) => {
      const answer = await store.take(group, limitsOf(limits), leaseMs / speed);
      return 'slots' in answer ? answer : { waitMs: answer.waitMs * speed };
    },
    release: (group, slot, limits) => store.release(group, slot, limitsOf(limits)),
    cancel: (group, slot) => store.cancel(group, slot),
    close: (group, delayMs) => store.close(group, delayMs / speed),
    lease: (group, wanted, limit, leaseMs) => store.lease(group, wanted, limit, leaseMs / speed),
    hold: (group, names, leaseMs, instead) => store.hold(group, names, leaseMs / speed, instead),
    giveBack: (group, places) => store.giveBack(group, places),
  };
}
