import { Worker } from 'node:worker_threads';

/** Keeps cores busy until the returned function is called, as other programs of a visitor do. */
export function startLoad(threads: number): () => Promise<unknown> {
  const workers = Array.from(
    { length: threads },
    () => new Worker('for (let n = 0; ; n++) Math.sqrt(n);', { eval: true }),
  );
  return () => Promise.all(workers.map((worker) => worker.terminate()));
}
