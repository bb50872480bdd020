import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A kind of use, and the number of its calls in one round. */
export interface Use {
  readonly title: string;
  readonly call: 'record' | 'page';
  readonly atOnce: number;
  readonly count: number;
}

/** The cost of a call in one round. */
export interface Cost {
  readonly cpuUs: number;
  readonly wallUs: number;
}

/** The service and one process for each client; the clients take turns within a round. */
export class Field {
  readonly #service: ChildProcess;
  readonly #workers: ReadonlyMap<string, ChildProcess>;

  static async open(names: readonly string[]): Promise<Field> {
    const service = fork(join(import.meta.dirname, 'service.mjs'));
    const [port] = (await once(service, 'message')) as [number];
    const workers = new Map<string, ChildProcess>();
    for (const name of names) {
      workers.set(name, await startWorker(name, `http://127.0.0.1:${port}`));
    }
    return new Field(service, workers);
  }

  private constructor(service: ChildProcess, workers: ReadonlyMap<string, ChildProcess>) {
    this.#service = service;
    this.#workers = workers;
  }

  /** One round: every client makes the same calls, one client after the other. */
  async round({ call, count, atOnce }: Use): Promise<Map<string, Cost>> {
    const costs = new Map<string, Cost>();
    for (const [name, worker] of this.#workers) {
      worker.send({ call, count, atOnce });
      const [cost] = (await once(worker, 'message')) as [Cost | { error: string }];
      if ('error' in cost) {
        throw new Error(cost.error);
      }
      costs.set(name, cost);
    }
    return costs;
  }

  close(): void {
    for (const child of [this.#service, ...this.#workers.values()]) {
      child.kill();
    }
  }
}

async function startWorker(name: string, url: string): Promise<ChildProcess> {
  const options = { execArgv: ['--expose-gc'] };
  const worker = fork(join(import.meta.dirname, 'worker.mjs'), [name, url], options);
  await once(worker, 'message');
  return worker;
}
