export { type AutoPageOptions, autoPage } from './auto-page.js';
export { debug } from './debug.js';
export { type BeforeSend, chain, once, sample, stamp } from './steps.js';
