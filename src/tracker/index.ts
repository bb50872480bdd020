export { transient } from './data.js';
export { createTracker } from './tracker.js';
export type * from './types.js';
