import { ConfigurationError } from '../../core/errors.js';
import { callSite } from '../../core/call.js';
import { contextOf, type MediaClient } from '../client.js';
import { LazyQueue, requireList } from '../lazy-queue.js';
import type { JobSource, MediaQueue, PoolQueueOptions } from '../queue/options.js';

/**
 * Several keys as one: a queue fills the limits of all of them. A key that the service refuses is
 * set aside, and its jobs go to the others.
 * @example
 * const pool = new MediaPool(keys.map((apiKey) => new MediaClient({ apiKey, baseUrl, journal })));
 * for await (const { file } of pool.queue(jobs)) { … }
 */
export class MediaPool {
  readonly #clients: readonly MediaClient[];

  /** @param clients - One for each key. */
  constructor(clients: readonly MediaClient[]) {
    requireList('clients', clients);
    if (clients.length === 0) {
      throw new ConfigurationError('A `MediaPool` needs at least one client.', {
        code: 'POOL_EMPTY',
      });
    }
    this.#clients = [...clients];
  }

  /**
   * Makes any number of files with all keys, as `media.queue()` does with one. A named queue knows
   * after a restart which key has which job; run one process with that name at a time.
   */
  queue(jobs: JobSource, options?: PoolQueueOptions): MediaQueue {
    return new LazyQueue(callSite(), async () => {
      // Loaded here, as the queue of one client is.
      const { openPoolQueue } = await import('../queue-parts.js');
      return openPoolQueue(this.#clients.map(contextOf), jobs, options);
    });
  }
}
