import fc from 'fast-check';

// The same cases in every run; `SEED=7 npx vitest …` tries others.
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 1) });

export default fc;
export type { Scheduler } from 'fast-check';
