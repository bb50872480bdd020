import { ConfigurationError } from '../errors/index.js';
import type { GenerationJob } from './jobs/job.js';
import type { MediaQueue, QueueResult } from './queue/options.js';

/** A queue whose code is loaded with its first step: most pages make one file at a time. */
export class LazyQueue implements MediaQueue {
  readonly #load: () => Promise<MediaQueue>;
  #queue: MediaQueue | undefined;
  readonly #orders: ((queue: MediaQueue) => void)[] = [];
  #isStarted = false;

  constructor(load: () => Promise<MediaQueue>) {
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
    const queue = await this.#load();
    this.#queue = queue;
    for (const order of this.#orders.splice(0)) {
      order(queue);
    }
    yield* queue;
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
