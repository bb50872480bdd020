import type { AcknowledgingSource, MediaJob, SourceItem } from 'postreel';

/** A source in memory that keeps a record of what it is told. */
export class ListSource implements AcknowledgingSource {
  readonly told: string[] = [];
  readonly extended: string[] = [];
  inHand = 0;
  maxInHand = 0;
  readonly #waiting: SourceItem[];
  readonly #ends: boolean;
  readonly name: string | undefined;
  #faults = 0;

  constructor(
    jobs: readonly MediaJob[],
    { ends = true, name }: { ends?: boolean; name?: string } = {},
  ) {
    this.name = name;
    this.#waiting = jobs.map((job, index) => ({ id: `job ${index}`, job }));
    this.#ends = ends;
  }

  /** Its store is down for so many calls. */
  breakDown(calls: number): void {
    this.#faults = calls;
  }

  add(item: SourceItem): void {
    this.#waiting.push(item);
  }

  take(count: number): Promise<readonly SourceItem[] | undefined> {
    if (this.#isDown()) {
      return Promise.reject(new Error('the store is down'));
    }
    const items = this.#waiting.splice(0, count);
    this.inHand += items.length;
    this.maxInHand = Math.max(this.maxInHand, this.inHand);
    return Promise.resolve(items.length === 0 && this.#ends ? undefined : items);
  }

  done({ id }: SourceItem, { fileId }: { fileId: string }): Promise<void> {
    return this.#hear(`${id} done ${fileId}`);
  }

  fail(
    { id }: SourceItem,
    _: unknown,
    { outcome }: { outcome: string | undefined },
  ): Promise<void> {
    return this.#hear(`${id} failed ${String(outcome)}`);
  }

  release({ id }: SourceItem): Promise<void> {
    return this.#hear(`${id} released`);
  }

  extend({ id }: SourceItem): Promise<void> {
    this.extended.push(id);
    return Promise.resolve();
  }

  #hear(what: string): Promise<void> {
    if (this.#isDown()) {
      return Promise.reject(new Error('the store is down'));
    }
    this.told.push(what);
    this.inHand--;
    return Promise.resolve();
  }

  #isDown(): boolean {
    return this.#faults-- > 0;
  }
}
