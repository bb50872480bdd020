/**
 * The script-tag build: sets the global `postreelTracker`. This file is not an entry point of the package.
 */
import { createTracker } from './tracker.js';
import { transient } from './data.js';

Object.assign(globalThis, { postreelTracker: { createTracker, transient } });
