import type { Case } from './case.js';
import { CONSENT } from './consent.js';
import { EXITS } from './exits.js';
import { GUESTS } from './guests.js';

/** All cases that run in a real browser. */
export const CASES: readonly Case[] = [...EXITS, ...CONSENT, ...GUESTS];
