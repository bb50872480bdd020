import { monotonicMs } from '../async/timers.js';
import type { Answer, ListOptions, RequestOptions } from '../contract/call.js';
import { isPostreelError } from '../errors/index.js';
import type { Input, ItemOf, Returned } from '../contract/methods.js';
import { isRecord } from '../contract/records.js';
import type { Paginated } from '../contract/paginated.js';
import type { Method, Route } from '../contract/route.js';
import { PagedList } from '../pagination/paginated.js';
import { callSite, locate, RunningCall, type CallState } from './call.js';
import {
  factsOf,
  type BodyLater,
  type CallContext,
  type RawAnswer,
  type RawInput,
  type TransportParts,
} from './context.js';
import { CallKey } from './auth/call-key.js';
import { withinDeadline } from './deadline.js';
import type { RateLimitState } from './rate-limit/budget.js';
import { readCallOptions } from './option-kinds.js';
import { freeRoute, splitPath, type FreeInput } from './request/custom-request.js';
import { prepare } from './request/prepare.js';
import { resultOf } from './response/result.js';
import { readBack } from './send/read-back.js';
import { sendWithRetries } from './send/retry.js';
import { Validator } from './validation/validator.js';

const noOptions: RequestOptions = {};

/** Takes calls to the service and brings back their answers. */
export class Transport {
  readonly #parts: TransportParts;
  readonly #validator: Validator;

  constructor(parts: TransportParts) {
    this.#parts = parts;
    this.#validator = new Validator(parts);
  }

  /** Sends one call. It starts at once. */
  send<R extends Route>(
    route: R,
    input: Input<R> & RawInput,
    options?: RequestOptions,
  ): RunningCall<Returned<R>> {
    return this.call(route, input, options) as RunningCall<Returned<R>>; // the type of the row's answer
  }

  /**
   * Checks a call as `send()` would, without sending it. Resolves to its body as it is sent: what the
   * caller changes from now on does not matter.
   */
  async check<R extends Route>(
    route: R,
    input: Input<R> & RawInput,
    given: RequestOptions,
    state: CallState,
  ): Promise<{ body: unknown; options: RequestOptions }> {
    const options = readCallOptions(given, input.ownOptions);
    state.signal = options.signal;
    const call = prepare(route, input, options, {
      parts: this.#parts,
      state,
      startedAt: monotonicMs(),
    });
    await this.#validator.checkRequest(call);
    return { body: call.input.body, options };
  }

  /** The same for input and results that no row describes. */
  call(
    route: Route,
    input: RawInput,
    options = noOptions,
    site = callSite(),
  ): RunningCall<unknown> {
    const run = async (state: CallState) => {
      try {
        return await this.#run(route, input, options, state);
      } catch (failure) {
        locate(failure, site);
        throw failure;
      }
    };
    return new RunningCall(run, { site });
  }

  /** A list. Nothing is sent before its first page is wanted. */
  pages<R extends Route>(
    route: R,
    input: Input<R> & RawInput,
    options: ListOptions = noOptions,
  ): Paginated<ItemOf<R>> {
    const { query, ...rest } = input;
    const site = callSite();
    // What is no query is refused with its call, not spread into letters.
    const isQuery = query === undefined || isRecord(query);
    const asked = isQuery ? { ...query } : query;
    return new PagedList<ItemOf<R>>(
      route,
      asked,
      (page) => this.call(route, { ...rest, query: isQuery ? page : query }, options, site),
      {
        ...listOptionsOf(options),
        onMismatch: ({ field, message }) => {
          const { method, path } = route;
          this.#parts.events.emit('mismatch', { method, path, issues: [{ field, message }] });
        },
      },
    );
  }

  /** A call to an endpoint that no row describes. */
  request(
    method: Method,
    path: string,
    input: FreeInput = {},
    options = noOptions,
  ): RunningCall<unknown> {
    const site = callSite();
    return new RunningCall(async (state) => {
      state.outcome = 'not-sent'; // a path that cannot be is a failed call, not a throw
      try {
        const [place, query] = splitPath(path, input.query);
        const row = freeRoute(method, place, this.#parts.keyring.current !== null);
        return await this.#run(row, { ...input, query, isFree: true }, options, state);
      } catch (failure) {
        locate(failure, site);
        throw failure;
      }
    });
  }

  /** Goes on with the key that is found for the current one, for all clients that share it. */
  swapKey({ method, path }: Route, find: (current: string) => string | undefined): void {
    const { keyring, events } = this.#parts;
    const { current } = keyring;
    if (typeof current !== 'string') {
      return; // a session has no key to swap
    }
    const key = find(current);
    if (key !== undefined) {
      keyring.swap(key);
    } else {
      events.emit('warning', { method, path, message: 'no new key found: the old one stays' });
    }
  }

  /** What is left of the rate limit right now; `undefined` when it is off. */
  rateLimit(): RateLimitState | undefined {
    const { budgets, keyring } = this.#parts;
    return keyring.current === undefined ? undefined : budgets.state(keyring.current);
  }

  async #run(
    route: Route,
    input: RawInput,
    given: RequestOptions,
    state: CallState,
  ): Promise<Answer<unknown>> {
    state.outcome = 'not-sent';
    const options = given === noOptions ? noOptions : readCallOptions(given, input.ownOptions);
    state.signal = options.signal;
    options.signal?.throwIfAborted();
    const startedAt = monotonicMs();
    // Built before anything is waited for: what the caller changes from now on does not matter.
    const filled = input.bodyLater ? await withBody(route, input, input.bodyLater, options) : input;
    const call = prepare(route, filled, options, { parts: this.#parts, state, startedAt });
    // Listeners of whole calls are rare: without one there is nothing to do.
    return this.#parts.events.hasListeners('call:end') ? this.#observed(call) : this.#perform(call);
  }

  async #perform(call: CallContext): Promise<Answer<unknown>> {
    if (!call.usesSession) {
      return this.#steps(call);
    }
    const { session } = this.#parts;
    session.reserve(call.route);
    try {
      return await this.#steps(call);
    } catch (failure) {
      session.failed(call.route, failure);
      throw failure;
    }
  }

  // The steps of a call, each in the file of its name.
  async #steps(call: CallContext): Promise<Answer<unknown>> {
    // Also where nothing is waited for: the caller may still want to listen for its events.
    await this.#validator.checkRequest(call);
    const key = await CallKey.of(call, this.#parts);
    const answer = await sendWithRetries(call, key, this.#parts).catch((failure: unknown) =>
      this.#readBack(failure, call),
    );
    if (call.usesSession) {
      this.#parts.session.keep(call.route, answer.response);
    }
    const data = resultOf(call, answer.body);
    await this.#validator.checkAnswer(call, data);
    call.state.outcome = undefined;
    return { data, response: answer.response, requestId: answer.requestId };
  }

  // A lost answer of a call that can be read back need not stay unknown.
  async #readBack(failure: unknown, call: CallContext): Promise<RawAnswer> {
    const { route, options } = call;
    const isLost = isPostreelError(failure) && failure.outcome === 'unknown';
    if (!isLost || !options.reconcile || !route.readBack) {
      throw failure;
    }
    const found = await readBack(route.readBack, call, this.call.bind(this)).catch(() => undefined);
    options.signal?.throwIfAborted();
    if (found) {
      return found;
    }
    throw failure;
  }

  async #observed(call: CallContext): Promise<Answer<unknown>> {
    const { events, settings } = this.#parts;
    const facts = factsOf(call);
    const startedAt = monotonicMs();
    const end = (error?: unknown) => {
      const durationMs = monotonicMs() - startedAt;
      events.emit('call:end', { ...facts, durationMs, outcome: call.state.outcome, error });
    };
    events.emit('call:start', { ...facts, baseUrl: settings.baseUrl });
    try {
      const answer = await this.#perform(call);
      end();
      return answer;
    } catch (failure) {
      end(failure ?? new Error('The call failed without a reason.'));
      throw failure;
    }
  }
}

// What does not fit is refused with the call of the first page.
function listOptionsOf(options: ListOptions): Pick<ListOptions, 'prefetch' | 'incomplete'> {
  try {
    const { prefetch, incomplete } = readCallOptions(options);
    return { prefetch, incomplete };
  } catch {
    return {};
  }
}

// Making a body may take as long as sending it.
async function withBody(
  route: Route,
  input: RawInput,
  bodyLater: BodyLater,
  options: RequestOptions,
): Promise<RawInput> {
  const { deadline = Number.POSITIVE_INFINITY, signal } = options;
  const limits = { route, path: route.path, deadlineAt: monotonicMs() + deadline, signal };
  const body = (await withinDeadline(bodyLater(options), limits)) ?? input.body;
  return { ...input, body };
}
