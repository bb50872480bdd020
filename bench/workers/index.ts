import { runCrew, type Crew } from './crew.js';
import { measureBeginning } from './waiting.js';

// `JOBS=2000 npm run bench:workers` runs the long form: about a quarter of an hour for each engine.
const jobs = Number(process.env['JOBS'] ?? 200);
const speed = Number(process.env['SPEED'] ?? 60);
const engines: readonly Crew['engine'][] = ['bullmq', 'pg-boss'];
const only = process.env['ONLY'];
const chosen = engines.filter((name) => only === undefined || name === only);
// `FAULTS=few` measures the time: one queue and key, without stops and a paused worker.
const more =
  process.env['FAULTS'] === 'few'
    ? { workers: 3, keys: 1, queues: ['videos'], pauses: 0, stopEveryMs: Infinity }
    : { workers: 4, keys: 2, queues: ['videos', 'trailers'], pauses: 1, stopEveryMs: 30_000 };
// The length of the queue at which a worker begins; `JOBS=0` measures only this.
const waiting = Number(process.env['WAITING'] ?? 300_000);

if (jobs > 0) {
  await race();
}
if (waiting > 0) {
  const rows: Record<string, object> = {};
  for (const engine of chosen) {
    rows[engine] = await measureBeginning(engine, waiting);
  }
  console.log(`\nA worker begins with ${waiting} jobs waiting`);
  console.table(rows);
}

async function race(): Promise<void> {
  console.log(
    `${more.workers} workers, keys: ${more.keys}, ${jobs} videos in ${more.queues.length} queues, time runs ${speed} times as fast\n`,
  );
  const rows: Record<string, object> = {};
  for (const engine of chosen) {
    const scene = {
      engine,
      jobs,
      speed,
      kills: 4,
      lost: 2,
      restarts: 1,
      ...more,
    };
    const { ratio, ...counts } = await runCrew(scene);
    rows[engine] = { ...counts, 'times the bound': Number(ratio.toFixed(3)) };
  }
  console.table(rows);
}
