import { crew, type Crew } from './crew.js';

// `JOBS=2000 npm run bench:workers` is the long form: about a quarter of an hour for each engine.
const jobs = Number(process.env['JOBS'] ?? 200);
const speed = Number(process.env['SPEED'] ?? 60);
const engines: readonly Crew['engine'][] = ['bullmq', 'pg-boss'];
const only = process.env['ONLY'];

console.log(`Three workers, ${jobs} videos, time runs ${speed} times as fast\n`);
const rows: Record<string, object> = {};
for (const engine of engines.filter((name) => only === undefined || name === only)) {
  const scene = { engine, jobs, speed, kills: 4, lost: 2, restarts: 1 };
  const { ratio, ...counts } = await crew(scene);
  rows[engine] = { ...counts, 'times the bound': Number(ratio.toFixed(3)) };
}
console.table(rows);
