/** What is loaded with the first queue or plan, as one file: most programs make one file at a time. */
export { readQueueOptions } from './queue/options.js';
export { planJobs } from './queue/plan.js';
export { JobQueue } from './queue/queue.js';
