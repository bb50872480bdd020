import { getEventListeners } from 'node:events';

/** One call that can be aborted, and the condition under which that is interesting. */
export interface Try {
  readonly call: PromiseLike<unknown>;
  /** Resolves when the call is in the phase that is being tested. */
  readonly inPhase: Promise<unknown>;
}

export interface Tally {
  readonly tries: number;
  /** The most turns of the event loop from `abort()` to the rejection, however busy the machine is. */
  readonly maxTurns: number;
  readonly reasonsKept: number;
  readonly listenersLeft: number;
}

/** How many calls are under way together. */
export const batchSize = 10;

/** Aborts many calls in the same phase, in modest batches, and counts how soon each hears it. */
export async function abortMany(
  tries: number,
  start: (signal: AbortSignal, index: number) => Try,
): Promise<Tally> {
  const results: Heard[] = [];
  while (results.length < tries) {
    const batch = Array.from({ length: Math.min(batchSize, tries - results.length) }, (_, index) =>
      abortOne(start, results.length + index),
    );
    results.push(...(await Promise.all(batch)));
  }
  return {
    tries: results.length,
    maxTurns: Math.max(...results.map(({ turns }) => turns)),
    reasonsKept: results.filter(({ keptReason }) => keptReason).length,
    listenersLeft: results.reduce((sum, { listenersLeft }) => sum + listenersLeft, 0),
  };
}

interface Heard {
  readonly turns: number;
  readonly keptReason: boolean;
  readonly listenersLeft: number;
}

async function abortOne(
  start: (signal: AbortSignal, index: number) => Try,
  index: number,
): Promise<Heard> {
  const controller = new AbortController();
  const reason = { index };
  const { call, inPhase } = start(controller.signal, index);
  const run = { isOver: false };
  let error: unknown;
  const end = Promise.resolve(call)
    .then(undefined, (thrown: unknown) => {
      error = thrown;
    })
    .finally(() => {
      run.isOver = true;
    });
  await inPhase;
  controller.abort(reason);
  let turns = 0;
  while (!run.isOver) {
    await new Promise(setImmediate);
    turns++;
  }
  await end;
  return {
    turns,
    keptReason: error === reason,
    listenersLeft: getEventListeners(controller.signal, 'abort').length,
  };
}
