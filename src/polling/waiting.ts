export { waitForJob } from './job.js';
export { waitForRecord } from './record.js';
export { createSpacing } from './spacing.js';
