import { isAbortOf, Timer, type Clock } from './async.js';
import {
  isPostreelError,
  PostreelError,
  reasonOf,
  TimeoutError,
  withoutOwnFrames,
  type Outcome,
} from './errors.js';
import type { Answer, Call, Safe } from './types.js';

/** What a running call learns about its own effect. */
export interface CallState {
  /** The number of the call, once it is built. */
  callId?: number | undefined;
  outcome?: Outcome | undefined;
  /** Has an attempt of it ended with an unknown outcome? What a later one comes to changes nothing. */
  mayHaveHappened?: boolean | undefined;
  /** Has a request left for the service? */
  hasLeft?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Where the call was made. */
  readonly site?: CallSite | undefined;
}

/** Where a call was made. */
export interface CallSite {
  readonly stack?: string;
}

// Ours are at most seven; the rest is the caller's.
const maxFrames = 10;

/** Notes where a call is made. The engine formats it only when `stack` is read. */
export function callSite(): CallSite {
  const { stackTraceLimit } = Error;
  // Most programs leave the engine's own limit, which is ours too: setting it costs as much again.
  if (stackTraceLimit === maxFrames) {
    return new Error();
  }
  Error.stackTraceLimit = maxFrames;
  const site = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return site;
}

// The stack of a call inside of another one has only lines of ours: the outer one's line stays.
const located = new WeakMap<PostreelError, 'call' | 'outer call'>();

/** Lets the stack of an error of ours lead to the line that made the call. */
export function locate(
  failure: unknown,
  { stack }: CallSite,
  by: 'call' | 'outer call' = 'call',
): void {
  // A program may format stacks its own way.
  if (!isPostreelError(failure) || typeof stack !== 'string') {
    return;
  }
  // One error may reach several callers: the first one's line stays.
  const known = located.get(failure);
  if (known === by || known === 'outer call') {
    return;
  }
  located.set(failure, by);
  const lines = stack.split('\n').filter((line) => /^\s+at |@/.test(line));
  const [inner, ...frames] = lines; // the first is callSite()
  if (inner !== undefined && frames.length > 0) {
    const line = `${failure.name}: ${failure.message}`;
    failure.stack = [line, ...withoutOwnFrames(frames)].join('\n');
  }
}

/**
 * The awaitable of one call. The call starts at once. Only the promise that does the work exists
 * until a result is asked for, so an ignored failure still surfaces as an unhandled rejection.
 */
export class RunningCall<T> implements Call<T> {
  readonly #answer: Promise<Answer<T>>;
  readonly #state: CallState;

  constructor(run: (state: CallState) => Promise<Answer<T>>, state: CallState = {}) {
    this.#state = state;
    this.#answer = run(state);
  }

  get outcome(): Outcome | undefined {
    return this.#state.outcome;
  }

  /** Has a request left for the service? From then on an abort leaves the outcome unknown. */
  get hasLeft(): boolean {
    return this.#state.hasLeft ?? false;
  }

  /** The number of the call in its events; `undefined` when it was refused before. */
  get callId(): number | undefined {
    return this.#state.callId;
  }

  get [Symbol.toStringTag](): string {
    return 'Call';
  }

  then<Value = T, Caught = never>(
    onValue?: ((value: T) => Value | PromiseLike<Value>) | null,
    onError?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Value | Caught> {
    // Without a handler the value passes through, so Value is T.
    const pass = onValue ?? ((value: T) => value as unknown as Value);
    return this.#answer.then((answer) => pass(answer.data), onError);
  }

  catch<Caught = never>(
    onError?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<T | Caught> {
    return this.then(undefined, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.then().finally(onEnd);
  }

  withResponse(): Promise<Answer<T>> {
    return this.#answer.then((answer) => answer);
  }

  safe(): Promise<Safe<T>> {
    return this.then(
      (data): Safe<T> => ({ data }),
      (error: unknown): Safe<T> => ({ error: ours(error, this.#state) }),
    );
  }

  /** The same call; a failure is handed over before its caller gets it. */
  tapError(tap: (failure: unknown, state: CallState) => void): RunningCall<T> {
    const state = this.#state;
    const run = () =>
      this.#answer.catch((failure: unknown) => {
        tap(failure, state);
        throw failure;
      });
    return new RunningCall(run, state);
  }

  /** The same call with its result turned into something better. */
  map<Better>(improve: (data: T, answer: Answer<T>) => Better): RunningCall<Better> {
    const state = this.#state;
    // The call and the error of an answer that is no use agree on the outcome.
    const better = (answer: Answer<T>) => {
      try {
        return withData(answer, improve(answer.data, answer));
      } catch (failure) {
        state.outcome = isPostreelError(failure) ? failure.outcome : state.outcome;
        locate(failure, state.site ?? {});
        throw failure;
      }
    };
    return new RunningCall(() => this.#answer.then(better), state);
  }
}

// The request id is made when someone reads it.
function withData<T>(answer: Answer<unknown>, data: T): Answer<T> {
  const { response } = answer;
  return {
    data,
    response,
    replayed: answer.replayed,
    get requestId() {
      return answer.requestId;
    },
  };
}

// Only an abort, whose reason may be any value, and a bug are not ours already.
function ours(reason: unknown, { outcome, signal }: CallState): PostreelError {
  if (isPostreelError(reason)) {
    return reason;
  }
  if (isAbortOf(signal, reason)) {
    return new PostreelError('The call was aborted.', { code: 'ABORTED', outcome, cause: reason });
  }
  const message = `The call failed: ${reasonOf(reason).replace(/\.?$/, '.')}`;
  return new PostreelError(message, { code: 'UNEXPECTED_ERROR', outcome, cause: reason });
}

/** When a call must be over. */
interface Deadline {
  readonly method: string;
  readonly path: string;
  /** In milliseconds by the client's clock; Infinity without a deadline. */
  readonly deadlineAt: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/** Waits for something of ours, such as a key, no longer than the call may take. */
export async function inTime<T>(promise: Promise<T>, call: Deadline): Promise<T> {
  const { deadlineAt, signal, clock } = call;
  const timer = new Timer(Math.max(0, deadlineAt - clock.now()), signal, clock);
  try {
    return await timer.last(promise);
  } catch (failure) {
    throw timer.timedOut ? notSentInTime(call) : failure;
  }
}

/** The error of a call whose deadline passed before it could leave. */
export function notSentInTime({ method, path }: Pick<Deadline, 'method' | 'path'>): TimeoutError {
  return new TimeoutError(`${method} ${path} was not sent: its \`deadline\` passed before.`, {
    method,
    path,
    code: 'DEADLINE_EXCEEDED',
    outcome: 'not-sent',
  });
}
