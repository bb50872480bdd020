import type { GenerationJob } from './job.js';
import type { MediaQueue, QueueResult } from './queue-options.js';

/** A queue whose code is loaded with its first step: most pages make one file at a time. */
export class LazyQueue implements MediaQueue {
  readonly #load: () => Promise<MediaQueue>;
  #queue: MediaQueue | undefined;

  constructor(load: () => Promise<MediaQueue>) {
    this.#load = load;
  }

  get running(): readonly GenerationJob[] {
    return this.#queue?.running ?? [];
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<QueueResult, void, undefined> {
    yield* (this.#queue = await this.#load());
  }
}
