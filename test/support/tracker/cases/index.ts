import type { Case } from './case.js';
import { ENDS, TABS } from './ends.js';
import { ENVIRONMENTS } from './environments.js';
import { REFUSALS } from './refusals.js';

/** Everything that is tried in a real browser. */
export const CASES: readonly Case[] = [...ENDS, ...TABS, ...REFUSALS, ...ENVIRONMENTS];
