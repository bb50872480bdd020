// What a client needs late or never, in one piece that is loaded when it is first asked for.
export { checkJobs } from './generate/rules.js';
export { splitText } from './generate/split-text.js';
export { pendingIn } from './jobs/journal.js';
export { planTimes } from './queue/plan.js';
export { JobQueue } from './queue/queue.js';
export { countBeside, queueHost } from './queue/host.js';
