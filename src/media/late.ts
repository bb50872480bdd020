// What a client needs late or never, in one piece that is loaded when it is first asked for.
export { checkJobs } from './generate/check-jobs.js';
export { splitText } from './generate/split-text.js';
export { pendingIn } from './journal.js';
export { planTimes } from './plan.js';
export { JobQueue } from './queue.js';
export { countBeside, queueHost } from './queue-host.js';
