import { ConfigurationError, invalidRequest } from '../core/errors.js';
import { locate, type CallSite } from '../core/call.js';
import { kindOf } from '../core/request.js';
import type { GenerationJob } from './jobs/job.js';
import type { JobSource, MediaQueue, QueueResult } from './queue/options.js';

/** A queue whose code is loaded with its first step: most pages make one file at a time. */
export class LazyQueue implements MediaQueue {
  readonly #site: CallSite;
  readonly #load: () => Promise<MediaQueue>;
  #queue: MediaQueue | undefined;
  readonly #orders: ((queue: MediaQueue) => void)[] = [];
  #isStarted = false;

  constructor(site: CallSite, load: () => Promise<MediaQueue>) {
    this.#site = site;
    this.#load = load;
  }

  get running(): readonly GenerationJob[] {
    return this.#queue?.running ?? [];
  }

  pause(): void {
    this.#control((queue) => queue.pause());
  }

  resume(): void {
    this.#control((queue) => queue.resume());
  }

  drain(): void {
    this.#control((queue) => queue.drain());
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<QueueResult, void, undefined> {
    // A second walk would submit, and pay for, everything again.
    if (this.#isStarted) {
      throw new ConfigurationError(
        'A queue can be iterated once. Make another one with the rest.',
        {
          code: 'QUEUE_STARTED',
        },
      );
    }
    this.#isStarted = true;
    try {
      const queue = await this.#load();
      this.#queue = queue;
      for (const order of this.#orders.splice(0)) {
        order(queue);
      }
      for await (const result of queue) {
        locate(result.error, this.#site, 'outer call');
        yield result;
      }
    } catch (failure) {
      locate(failure, this.#site, 'outer call');
      throw failure;
    }
  }

  /** For programs in plain JavaScript: `for … of` cannot wait for a result. */
  [Symbol.iterator](): never {
    throw new TypeError('A queue waits for its files: use `for await (const result of queue)`.');
  }

  // What is said before the queue is loaded is said to it then.
  #control(order: (queue: MediaQueue) => void): void {
    if (this.#queue) {
      order(this.#queue);
    } else {
      this.#orders.push(order);
    }
  }
}

/** Refuses what is no list: a text would be taken for its characters. */
export function requireList(field: string, list: unknown): void {
  if (!Array.isArray(list)) {
    throw invalidRequest([{ field, message: `must be a list; got ${kindOf(list)}` }]);
  }
}

/** Refuses what is no list of jobs and no source of them: JavaScript may pass anything. */
export function requireJobs(jobs: JobSource | null | undefined): void {
  const isSource = typeof jobs === 'object' && jobs !== null;
  if (!isSource || !(Symbol.iterator in jobs || Symbol.asyncIterator in jobs)) {
    const message = `must be a list, a generator or an async source of jobs; got ${kindOf(jobs)}`;
    throw invalidRequest([{ field: 'jobs', message }]);
  }
}
