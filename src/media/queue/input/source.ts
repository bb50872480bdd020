import type { MediaJob } from '../../generate/media-job.js';
import type { JobSource } from '../options.js';

/** Reads the input of a queue, a stretch at a time. What it throws ends the input, and is kept. */
export class SourceReader {
  readonly #list: Iterator<MediaJob> | undefined;
  readonly #stream: AsyncIterator<MediaJob> | undefined;
  #failure: { readonly reason: unknown } | undefined;
  #isExhausted = false;
  /** How many jobs there are, where that is known beforehand. */
  readonly size: number | undefined;

  constructor(source: JobSource) {
    this.size = Array.isArray(source) ? source.length : undefined;
    if (Symbol.asyncIterator in source) {
      this.#stream = source[Symbol.asyncIterator]();
    } else {
      this.#list = source[Symbol.iterator]();
    }
  }

  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** Why the input ended before its time. */
  get failure(): { readonly reason: unknown } | undefined {
    return this.#failure;
  }

  /** Does the next job of this input take its time to come? */
  get isStream(): boolean {
    return this.#stream !== undefined;
  }

  /** The next jobs of a list. */
  readList(most: number): MediaJob[] {
    const jobs: MediaJob[] = [];
    try {
      while (!this.#isExhausted && jobs.length < most) {
        const next = this.#list?.next();
        if (!next || next.done) {
          this.#isExhausted = true;
        } else {
          jobs.push(next.value);
        }
      }
    } catch (reason) {
      this.#fail(reason);
    }
    return jobs;
  }

  /** The next job of a stream, if there is one. */
  async readStream(): Promise<MediaJob[]> {
    try {
      const next = await this.#stream?.next();
      if (next && !next.done) {
        return [next.value];
      }
      this.#isExhausted = true;
    } catch (reason) {
      this.#fail(reason);
    }
    return [];
  }

  /** Tells the source that nothing more will be read. */
  close(): void {
    if (this.#isExhausted) {
      return;
    }
    this.#isExhausted = true;
    this.#list?.return?.();
    void Promise.resolve(this.#stream?.return?.()).catch(() => undefined); // it has been left
  }

  #fail(reason: unknown): void {
    this.#isExhausted = true;
    this.#failure = { reason };
  }
}
