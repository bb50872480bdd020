import { isPostreelError, type PostreelError } from '../../core/errors.js';
import { madeNothing, mayHaveBeenMade } from '../jobs/refused-calls.js';
import type { VideoRequest } from './types.js';

/** Sends one request and resolves to a result for each of its jobs. */
type Send<Result> = (body: VideoRequest) => PromiseLike<Result[]>;

interface Batch<Result> {
  readonly payload: VideoRequest['payload'][number][];
  readonly results: Promise<Result[]>;
  callers: number;
}

/** Merges the video calls of one tick that go into the same folder: each costs one of ten requests. */
export class Coalescer<Result> {
  readonly #send: Send<Result>;
  readonly #maxJobs: number;
  readonly #batches = new Map<string, Batch<Result>>();

  /** A request has at most so many jobs, unless one caller gives more. */
  constructor(send: Send<Result>, maxJobs: number) {
    this.#send = send;
    this.#maxJobs = maxJobs;
  }

  /** Joins the batch of this tick and resolves to the results of the caller's jobs. */
  async add(request: VideoRequest): Promise<Result[]> {
    const { payload, ...body } = request;
    const name = nameOf(request);
    const open = this.#batches.get(name);
    const hasRoom = open && open.payload.length + payload.length <= this.#maxJobs;
    const batch = hasRoom ? open : this.#open(name, body);
    const start = batch.payload.length;
    batch.payload.push(...payload);
    batch.callers++;
    try {
      const results = await batch.results;
      return results.slice(start, start + payload.length);
    } catch (failure) {
      if (!isRefusal(failure)) {
        throw failure;
      }
      // The fault may lie in another caller's jobs: these go once more, if none was made. A broken rule
      // is told by a call of its own too, which names the fields as its caller has them.
      const jobs = batch.payload.length;
      if (batch.callers === 1 && failure.outcome !== 'not-sent') {
        throw failure;
      }
      if (failure.outcome === 'not-sent' || madeNothing(failure, jobs)) {
        return this.#send(request);
      }
      throw mayHaveBeenMade(failure, jobs);
    }
  }

  #open(name: string, body: Omit<VideoRequest, 'payload'>): Batch<Result> {
    const payload: Batch<Result>['payload'] = [];
    const results = Promise.resolve().then(() => {
      if (this.#batches.get(name) === batch) {
        this.#batches.delete(name);
      }
      return this.#send({ ...body, payload });
    });
    const batch: Batch<Result> = { payload, results, callers: 0 };
    this.#batches.set(name, batch);
    return batch;
  }
}

// A brand kit "applies to every video of the request": others must not get it.
function nameOf({ folderId, file, payload }: VideoRequest): string {
  const brands = new Set(payload.map(({ brandId }) => brandId ?? null));
  return JSON.stringify([folderId, file, [...brands].sort()]);
}

// The jobs were refused, locally or by the service.
function isRefusal(failure: unknown): failure is PostreelError {
  if (!isPostreelError(failure)) {
    return false;
  }
  return failure.code === 'INVALID_REQUEST' || failure.status === 400 || failure.status === 422;
}
