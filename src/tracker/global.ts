/** The script-tag build: sets the global `postreelTracker`. No door leads here. */
import { createTracker } from './tracker.js';
import { transient } from './data.js';

Object.assign(globalThis, { postreelTracker: { createTracker, transient } });
