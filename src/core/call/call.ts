import { isAbortOf, Timer, type Clock } from '../async.js';
import {
  isPostreelError,
  PostreelError,
  reasonOf,
  TimeoutError,
  removeOwnFrames,
  type Outcome,
} from '../errors.js';
import type { Answer, Call, Safe } from '../types.js';

/** The state of a running call, which its attempts update. */
export interface CallState {
  /** The number of the call; set when the call is built. */
  callId?: number | undefined;
  outcome?: Outcome | undefined;
  /** Has an attempt ended with an unknown outcome? No later attempt can change that. */
  mayHaveHappened?: boolean | undefined;
  /** Has a request been sent to the service? */
  isSent?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** The line that made the call. */
  readonly site?: CallSite | undefined;
}

/** The stack of the line that made a call. */
export interface CallSite {
  readonly stack?: string;
}

// At most seven frames belong to this library; the rest are the caller's.
const maxFrames = 10;

/** Records where a call is made. The engine formats the stack only when `stack` is read. */
export function callSite(): CallSite {
  const { stackTraceLimit } = Error;
  // Most programs keep the engine's default limit, which equals `maxFrames`. Setting it would double the
  // cost.
  if (stackTraceLimit === maxFrames) {
    return new Error();
  }
  Error.stackTraceLimit = maxFrames;
  const site = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return site;
}

// Errors whose stack names a line of the program. Some calls make further calls, e.g. `sendEach()` calls `send()`.
// The stack of such a further call has only frames of this library, so the line of the outer call replaces it.
const located = new WeakMap<PostreelError, 'call' | 'outer call'>();

/** Changes the stack of an error of this library so that it leads to the line that made the call. */
export function locate(
  failure: unknown,
  { stack }: CallSite,
  by: 'call' | 'outer call' = 'call',
): void {
  // A program may format stacks in its own way.
  if (!isPostreelError(failure) || typeof stack !== 'string') {
    return;
  }
  // Several callers may share one error: the first caller's line stays.
  const known = located.get(failure);
  if (known === by || known === 'outer call') {
    return;
  }
  located.set(failure, by);
  const lines = stack.split('\n').filter((line) => /^\s+at |@/.test(line));
  const [inner, ...frames] = lines; // the first frame is callSite()
  if (inner !== undefined && frames.length > 0) {
    const line = `${failure.name}: ${failure.message}`;
    failure.stack = [line, ...removeOwnFrames(frames)].join('\n');
  }
}

/**
 * The awaitable of one call. The call starts at once. No second promise is derived before a caller asks for a
 * result, so a failure that nobody handles is reported once, as an unhandled rejection.
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

  /**
   * Has a request been sent to the service, or is the key of a paid job being claimed? From then on an abort leaves the
   * outcome unknown.
   */
  get isSent(): boolean {
    return this.#state.isSent ?? false;
  }

  /** The number of the call in its events; `undefined` if the call was rejected before it was built. */
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
      (error: unknown): Safe<T> => ({ error: toPostreelError(error, this.#state) }),
    );
  }

  /** The same call; `tap` receives a failure before the caller does. */
  tapError(tap: (failure: unknown, state: CallState) => void): RunningCall<T> {
    const state = this.#state;
    const run = () =>
      this.#answer.catch((failure: unknown) => {
        tap(failure, state);
        throw failure;
      });
    return new RunningCall(run, state);
  }

  /** The same call with its result transformed. */
  map<Better>(improve: (data: T, answer: Answer<T>) => Better): RunningCall<Better> {
    const state = this.#state;
    // If the response cannot be used, the call gets the outcome of that error.
    const better = (answer: Answer<T>) => {
      try {
        return replaceData(answer, improve(answer.data, answer));
      } catch (failure) {
        state.outcome = isPostreelError(failure) ? failure.outcome : state.outcome;
        locate(failure, state.site ?? {});
        throw failure;
      }
    };
    return new RunningCall(() => this.#answer.then(better), state);
  }
}

// The request id is computed only when someone reads it.
function replaceData<T>(answer: Answer<unknown>, data: T): Answer<T> {
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

// Wraps failures that are not errors of this library: the reason of an abort, which may be any value, and
// bugs.
function toPostreelError(reason: unknown, { outcome, signal }: CallState): PostreelError {
  if (isPostreelError(reason)) {
    return reason;
  }
  if (isAbortOf(signal, reason)) {
    return new PostreelError('The call was aborted.', { code: 'ABORTED', outcome, cause: reason });
  }
  const message = `The call failed: ${reasonOf(reason).replace(/\.?$/, '.')}`;
  return new PostreelError(message, { code: 'UNEXPECTED_ERROR', outcome, cause: reason });
}

/** The time by which a call must be over. */
export interface Deadline {
  readonly method: string;
  readonly path: string;
  /** In milliseconds by the client's clock; Infinity without a deadline. */
  readonly deadlineAt: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/** Waits for a step of the client, such as fetching a key, until the call's deadline at most. */
export async function inTime<T>(promise: Promise<T>, call: Deadline): Promise<T> {
  const { deadlineAt, signal, clock } = call;
  const timer = new Timer(Math.max(0, deadlineAt - clock.now()), signal, clock);
  try {
    return await timer.withinThenStop(promise);
  } catch (failure) {
    throw timer.timedOut ? notSentInTimeError(call) : failure;
  }
}

/** The error of a call whose deadline passed before its request could be sent. */
export function notSentInTimeError({
  method,
  path,
}: Pick<Deadline, 'method' | 'path'>): TimeoutError {
  return new TimeoutError(
    `${method} ${path} was not sent, because its \`deadline\` passed while it was waiting.`,
    {
      method,
      path,
      code: 'DEADLINE_EXCEEDED',
      outcome: 'not-sent',
    },
  );
}
