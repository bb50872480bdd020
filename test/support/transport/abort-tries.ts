import { getEventListeners } from 'node:events';

/** One call that can be aborted, and the condition under which that is interesting. */
export interface Try {
  readonly call: PromiseLike<unknown>;
  /** Resolves when the call is in the phase that is being tested. */
  readonly inPhase: Promise<unknown>;
}

export interface Tally {
  readonly tries: number;
  /** From `abort()` to the rejection, less what the event loop itself was late. */
  readonly worstMs: number;
  readonly reasonsKept: number;
  readonly listenersLeft: number;
}

/** How many calls are under way together. */
export const batchSize = 10;

/** Aborts many calls in the same phase, in modest batches, and measures how soon each hears it. */
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
    worstMs: Math.max(...results.map(({ lateMs }) => lateMs)),
    reasonsKept: results.filter(({ keptReason }) => keptReason).length,
    listenersLeft: results.reduce((sum, { listenersLeft }) => sum + listenersLeft, 0),
  };
}

interface Heard {
  readonly lateMs: number;
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
  const end = Promise.resolve(call).then(
    () => ({ error: undefined, at: now() }),
    (error: unknown) => ({ error, at: now() }),
  );
  await inPhase;
  // A timer of nothing from the same moment: what it is late is not the call's fault.
  const control = new Promise<Moment>((resolve) => {
    setTimeout(() => resolve(now()), 0);
  });
  const abortedAt = now();
  controller.abort(reason);
  const [{ error, at }, controlAt] = await Promise.all([end, control]);
  return {
    lateMs: at.wallMs > controlAt.wallMs ? at.wallMs - controlAt.wallMs : within(abortedAt, at),
    keptReason: error === reason,
    listenersLeft: getEventListeners(controller.signal, 'abort').length,
  };
}

interface Moment {
  readonly wallMs: number;
  /** What this process has had of the processor. */
  readonly busyMs: number;
}

function now(): Moment {
  const { user, system } = process.cpuUsage();
  return { wallMs: performance.now(), busyMs: (user + system) / 1000 };
}

// Inside one turn of the loop nothing but work can pass the time, ours or that of other processes.
function within(from: Moment, to: Moment): number {
  return Math.min(to.wallMs - from.wallMs, to.busyMs - from.busyMs);
}
