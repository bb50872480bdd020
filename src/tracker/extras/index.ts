export { type AutoPageOptions, autoPage, type PageTracker } from './auto-page.js';
export { debug } from './debug.js';
export type * from '../public.js';
export { type BeforeSend, chain, once, sample, stamp } from './steps.js';
