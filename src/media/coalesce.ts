import type { VideoRequest } from './generate/types.js';

/** Sends one request and resolves to a result for each of its jobs. */
type Send<Result> = (body: VideoRequest) => PromiseLike<Result[]>;

interface Batch<Result> {
  readonly body: Omit<VideoRequest, 'payload'>;
  readonly payload: VideoRequest['payload'][number][];
  readonly results: Promise<Result[]>;
}

/** Merges the video calls of one tick that go into the same folder: each costs one of ten requests. */
export class Coalescer<Result> {
  readonly #send: Send<Result>;
  readonly #batches = new Map<string, Batch<Result>>();

  constructor(send: Send<Result>) {
    this.#send = send;
  }

  /** Joins the batch of this tick and resolves to the results of the own jobs. */
  async add({ payload, ...body }: VideoRequest): Promise<Result[]> {
    const name = JSON.stringify([body.folderId, body.file]);
    const batch = this.#batches.get(name) ?? this.#open(name, body);
    const start = batch.payload.length;
    batch.payload.push(...payload);
    const results = await batch.results;
    return results.slice(start, start + payload.length);
  }

  #open(name: string, body: Omit<VideoRequest, 'payload'>): Batch<Result> {
    const payload: Batch<Result>['payload'] = [];
    const results = Promise.resolve().then(() => {
      this.#batches.delete(name);
      return this.#send({ ...body, payload });
    });
    const batch = { body, payload, results };
    this.#batches.set(name, batch);
    return batch;
  }
}
