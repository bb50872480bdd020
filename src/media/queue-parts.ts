/** What is loaded with the first queue, plan or pool, as one file: they share nearly all of their code. */
export { openPoolQueue, openQueue } from './queue/open.js';
export { planJobs } from './queue/plan.js';
