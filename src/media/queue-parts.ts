/** What is loaded with the first queue, plan or pool, as one file: they share nearly all of their code. */
export { openQueue } from './queue/open.js';
export { planJobs } from './queue/plan.js';
export { PoolQueue } from './pool/pool-queue.js';
