import type { Page } from '../contract/paginated.js';

/** A page and the state of the request for the one after it. */
export interface LinkedPage<T> extends Page<T> {
  /** Is the request for the next page on its way, once it was asked for? */
  readonly hasNextLeft: boolean;
  nextPage(): Promise<LinkedPage<T> | undefined>;
}

/** How far pages are requested before they are wanted. */
export interface AheadLimits {
  /** So many pages at most. */
  readonly pages: number;
  /** Pages that lie beyond so many items of the list are not requested. */
  readonly items: number;
}

// Taken at import, so that fake timers in a user's tests cannot stop an iteration.
const real = /* @__PURE__ */ realTimers();

/** Turns of the event loop: until a request has left at most, and until its bytes are written. */
const turns = { most: 10, toWrite: 2 };

/** Requests pages before they are wanted, one after the other: each leads to the next. */
export class PagesAhead<T> {
  readonly #limits: AheadLimits;
  /** The pages that were requested and not taken yet, in their order. */
  #coming: Promise<LinkedPage<T> | undefined>[] = [];
  #itemCount = 0;
  #isOver = false;

  constructor(limits: AheadLimits) {
    this.#limits = limits;
  }

  /** The page after this one, which may be on its way already. */
  async take(page: LinkedPage<T>): Promise<LinkedPage<T> | undefined> {
    try {
      return await (this.#coming.shift() ?? page.nextPage());
    } catch (failure) {
      this.#coming = []; // who asks again begins with the page that failed
      throw failure;
    }
  }

  /** Requests what lies ahead of a page that is about to be read. Waits for the first to leave. */
  async follow(page: LinkedPage<T>): Promise<void> {
    while (this.#coming.length < this.#limits.pages) {
      const last = this.#coming.at(-1);
      const next = last ? last.then((before) => this.#after(before)) : this.#after(page);
      if (!next) {
        return;
      }
      next.catch(noop); // reported when its turn comes
      this.#coming.push(next);
    }
    const newest = this.#coming.at(-1);
    if (newest) {
      await onTheWire(newest, () => page.hasNextLeft);
    }
  }

  /** Requests nothing more. */
  stop(): void {
    this.#isOver = true;
    this.#coming = [];
  }

  #after(page: LinkedPage<T> | undefined): Promise<LinkedPage<T> | undefined> | undefined {
    this.#itemCount += page?.items.length ?? 0;
    const isWanted = !this.#isOver && this.#itemCount < this.#limits.items;
    return page?.hasMore && isWanted ? page.nextPage() : undefined;
  }
}

// A request leaves only when the event loop turns, and a busy consumer never lets it: the consumer
// goes on when the request for the page after is on the wire. It never waits long for that, e.g.
// when the request must wait for the rate limit.
async function onTheWire(ahead: Promise<unknown>, hasLeft: () => boolean): Promise<void> {
  const load = { isOver: false };
  const end = () => {
    load.isOver = true; // a failure is reported when the turn of the page comes
  };
  ahead.then(end, end);
  for (let turn = 0; turn < turns.most && !load.isOver && !hasLeft(); turn++) {
    await nextTurn();
  }
  for (let turn = 0; turn < turns.toWrite && !load.isOver; turn++) {
    await nextTurn();
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof real.setImmediate === 'function') {
      real.setImmediate(resolve);
    } else {
      real.setTimeout(resolve, 0);
    }
  });
}

function realTimers(): Pick<typeof globalThis, 'setImmediate' | 'setTimeout'> {
  const { setImmediate, setTimeout } = globalThis;
  return { setImmediate, setTimeout };
}

function noop(): void {
  // nothing to do
}
