import { ANSWERS } from './answers.js';
import type { Case } from './case.js';
import { ENDS, TABS } from './ends.js';
import { ENVIRONMENTS } from './environments.js';
import { ERASURES } from './erasures.js';
import { LIVES } from './lives.js';
import { REFUSALS } from './refusals.js';
import { STORAGE } from './storage.js';
import { SURROUNDINGS } from './surroundings.js';

/** Everything that is tried in a real browser. */
export const CASES: readonly Case[] = [
  ...ENDS,
  ...TABS,
  ...REFUSALS,
  ...ENVIRONMENTS,
  ...ERASURES,
  ...STORAGE,
  ...ANSWERS,
  ...LIVES,
  ...SURROUNDINGS,
];
