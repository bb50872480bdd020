export { transient } from './data.js';
export type * from './public.js';
export { createTracker } from './tracker.js';
