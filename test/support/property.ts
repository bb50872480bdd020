import fc from 'fast-check';

// The same cases in every run; `SEED=7 npx vitest …` tries others.
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 1) });

/** How many cases of a slow property `npm test` tries; `npm run properties` tries ten times as many. */
export const runs = (cases: number) => cases * Number(process.env['PROPERTY_RUNS'] ?? 1);

export default fc;
export type { Scheduler } from 'fast-check';
