import { ConfigurationError } from '../errors/index.js';
import type { GenerationJob } from './jobs/job.js';
import type { MediaQueue, QueueResult } from './queue/options.js';

/** A queue whose code is loaded with its first step: most pages make one file at a time. */
export class LazyQueue implements MediaQueue {
  readonly #load: () => Promise<MediaQueue>;
  #queue: MediaQueue | undefined;
  #isStarted = false;

  constructor(load: () => Promise<MediaQueue>) {
    this.#load = load;
  }

  get running(): readonly GenerationJob[] {
    return this.#queue?.running ?? [];
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
    this.#queue = await this.#load();
    yield* this.#queue;
  }
}
