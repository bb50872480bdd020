import { isAbortOf, Timer } from '../async.js';
import { readAnswer, requestIdOf, resultOf } from './answer.js';
import { encodeJson } from './body.js';
import {
  callSite,
  inTime,
  locate,
  notSentInTimeError,
  RunningCall,
  type CallState,
} from './call.js';
import { Checks, type CheckParts } from './checks.js';
import { isPostreelError, RateLimitError, type Outcome, type PostreelError } from '../errors.js';
import { Exchange } from './exchange.js';
import type { Http } from './http.js';
import { keyUnavailableError, type Keyring } from '../keys.js';
import { PagedList } from '../list/list.js';
import { journalMissingError, type OnceKey } from '../once/key.js';
import type { KeyScope } from '../once/key-scope.js';
import { makeOnce, requireOnce } from '../once/once.js';
import { readCallOptions } from '../options.js';
import { outcomeWhenLost } from './outcome.js';
import type { BudgetSource } from '../limit/budgets.js';
import type { Budget, Slot } from '../limit/rate-limit.js';
import { maxCloseMs } from '../limit/rate-store.js';
import { buildFreeRoute, prepareCall, type CallInput, type PreparedCall } from './request.js';
import { repeat } from './retry.js';
import { pauseMs } from './retry-after.js';
import type { InputOf, ItemOf, Method, Returned, Route } from './route.js';
import type { Session } from '../session.js';
import type {
  Answer,
  CallEvent,
  FreeInput,
  ListOptions,
  Paginated,
  RateLimitState,
  RequestEvent,
  RequestOptions,
  RunRequest,
} from '../types.js';
import { isRecord } from '../values.js';

/** The dependencies of a transport. */
interface TransportParts extends CheckParts {
  readonly keyring: Keyring;
  readonly session: Session;
  readonly budgets: BudgetSource;
  readonly http: Http;
  /** `undefined` if the client has no journal. */
  readonly keys: KeyScope | undefined;
}

/** A successful response, read and parsed. */
interface RawAnswer {
  readonly body: unknown;
  readonly response: Response;
}

/** The API key of one call. It may be renewed once, after a 401. */
interface CallKey {
  value: string | null;
  mayRenew: boolean;
}

const noOptions: RequestOptions = {};

/**
 * Sends calls to the service and returns their results. To follow a call, read `#run`, `#perform` and
 * `#attempt` from top to bottom.
 */
export class Transport {
  readonly #parts: TransportParts;
  readonly #checks: Checks;

  constructor(parts: TransportParts) {
    this.#parts = parts;
    this.#checks = new Checks(parts);
  }

  /** Sends one call. The call starts at once. */
  send<R extends Route>(
    route: R,
    input: InputOf<R> & CallInput,
    options?: RequestOptions,
  ): RunningCall<Returned<R>> {
    return this.call(route, input, options) as RunningCall<Returned<R>>; // as: the row's type of result
  }

  /** Like `send()`, for input and results that no row describes. */
  call(
    route: Route,
    input: CallInput,
    options = noOptions,
    site = callSite(),
  ): RunningCall<unknown> {
    const run = (state: CallState) => this.#run(() => [route, input], options, state, site);
    return new RunningCall(run, { site });
  }

  /**
   * Checks a call as `send()` would, without sending it. Resolves to the request body; later changes by the
   * caller have no effect on it.
   */
  async check<R extends Route>(
    route: R,
    input: InputOf<R> & CallInput,
    given: RequestOptions,
    state: CallState,
  ): Promise<{ body: unknown; options: RequestOptions }> {
    const options = readCallOptions(given, input.before?.options);
    state.signal = options.signal;
    const startedAt = this.#parts.settings.clock.now();
    const call = prepareCall(route, input, options, { ...this.#parts, state, startedAt });
    await this.#checks.checkRequest(call);
    return { body: call.body, options };
  }

  /** Calls an endpoint that no row describes. */
  request(
    method: Method,
    path: string,
    { query, body }: FreeInput = {},
    options = noOptions,
  ): RunningCall<unknown> {
    const site = callSite();
    const find = (): [Route, CallInput] => {
      const hasKey = this.#parts.keyring.current !== null;
      const [route, all] = buildFreeRoute(method, path, query, hasKey);
      return [route, { query: all, body }];
    };
    return new RunningCall((state) => this.#run(find, options, state, site));
  }

  /** Returns a list. No request is sent until its first page is read. */
  pages<R extends Route>(
    route: R,
    input: InputOf<R> & CallInput,
    options: ListOptions = noOptions,
  ): Paginated<ItemOf<R>> {
    const { query, ...rest } = input as CallInput;
    const site = callSite();
    // A query that is not an object is rejected when the call runs.
    const isQuery = query === undefined || isRecord(query);
    const { method, path } = route;
    return new PagedList<ItemOf<R>>(route, isQuery ? query : undefined, {
      fetch: (page) => this.call(route, { ...rest, query: isQuery ? page : query }, options, site),
      prefetch: prefetchOf(options),
      warn: (message) => this.#parts.events.emit('warning', { method, path, message }),
    });
  }

  /** Replaces the current key by the one that `find` returns, for all clients that share the keyring. */
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
      const message = 'No new key was found in the response, so the client keeps the old key.';
      events.emit('warning', { method, path, message });
    }
  }

  /** The state of the rate limit right now; `undefined` if it is off. */
  rateLimit(): RateLimitState | undefined {
    const { budgets, keyring } = this.#parts;
    return keyring.current === undefined ? undefined : budgets.for(keyring.current)?.state();
  }

  // ---- the call, from its options to its result

  async #run(
    find: () => [Route, CallInput],
    given: RequestOptions,
    state: CallState,
    site: { readonly stack?: string },
  ): Promise<Answer<unknown>> {
    state.outcome = 'not-sent';
    try {
      const [route, input] = find();
      const options = given === noOptions ? given : readCallOptions(given, input.before?.options);
      const { signal } = options;
      state.signal = signal;
      signal?.throwIfAborted();
      const { clock } = this.#parts.settings;
      const startedAt = clock.now();
      const { deadline = Number.POSITIVE_INFINITY } = options;
      let { body } = input;
      if (input.before) {
        const where = { method: route.method, path: route.path };
        const made = input.before.run(options);
        const terms = { ...where, signal, clock, deadlineAt: startedAt + deadline };
        body = (await inTime(made, terms)) ?? body;
      }
      // Changes by the caller have no effect from here on.
      const context = { ...this.#parts, state, startedAt };
      const call = prepareCall(route, { ...input, body }, options, context);
      const once = input.once ?? requireOnce(given, call);
      const end = this.#reportStart(call);
      try {
        const answer = await (once ? this.#performOnce(call, once) : this.#perform(call));
        end?.();
        return answer;
      } catch (failure) {
        end?.(failure ?? new Error('The call failed without a reason.'));
        throw failure;
      }
    } catch (failure) {
      locate(failure, site);
      throw failure;
    }
  }

  #performOnce(call: PreparedCall, key: OnceKey): Promise<Answer<unknown>> {
    const { keys } = this.#parts;
    if (!keys) {
      throw journalMissingError('A call with `once`');
    }
    return makeOnce(keys, call, key, (hooks) => {
      const onLate = (body: unknown) => hooks.onLate?.(resultOf(call, body));
      return this.#perform({ ...call, input: { ...call.input, hooks: { ...hooks, onLate } } });
    });
  }

  async #perform(call: PreparedCall): Promise<Answer<unknown>> {
    const { session, keyring } = this.#parts;
    if (call.usesSession) {
      session.reserve(call.route);
    }
    try {
      await this.#checks.checkRequest(call);
      const known = keyring.keyFor(call.route, session);
      const value = known instanceof Promise ? await this.#fetchedKey(known, call) : known;
      const key = { value, mayRenew: value !== null };
      const { body, response } = await this.#attempts(call, key);
      if (call.usesSession) {
        session.keep(call.route, response);
      }
      const data = resultOf(call, body);
      await this.#checks.checkAnswer(call, data);
      call.state.outcome = undefined;
      // Built on demand: most callers never read the request id.
      return {
        data,
        response,
        get requestId() {
          return requestIdOf(response, call, key.value);
        },
      };
    } catch (failure) {
      if (call.usesSession) {
        session.failed(call.route, failure);
      }
      throw failure;
    }
  }

  #attempts(call: PreparedCall, key: CallKey): Promise<RawAnswer> {
    const { settings, events } = this.#parts;
    const budget = this.#budgetOf(call, key);
    const terms = {
      windowMs: settings.windowMs,
      maxQueueMs: settings.maxQueueMs,
      budgetWaits: budget !== undefined,
      onRetry: (facts: { attempt: number; delayMs: number; error: PostreelError }) => {
        events.emit('retry', { ...factsOf(call), ...facts });
        return call.input.hooks?.beforePause?.();
      },
    };
    return repeat(call, (number) => this.#attempt(number, call, key, budget), terms);
  }

  /** Sends one request and reads its response. */
  async #attempt(
    number: number,
    call: PreparedCall,
    key: CallKey,
    budget: Budget | undefined,
  ): Promise<RawAnswer> {
    const { events, http, settings, keyring } = this.#parts;
    const { signal, state, clock } = call;
    const whenLost = outcomeWhenLost(call);

    // 1. Wait for a slot of the rate limit. Nearly always one is free.
    const acquired = budget && this.#acquire(budget, number, call);
    const slot = acquired instanceof Promise ? await acquired : acquired;
    const { limitMs, body: changed } = await prepareToSend(call, slot);
    const sent = changed === undefined ? call : replaceBody(call, changed);

    // 2. Send the request. From here on it may take effect.
    const facts = () => ({ ...factsOf(call), attempt: number });
    const sentAt = clock.now();
    const run = this.#reportRequest(facts);
    state.isSent = true;
    state.outcome = whenLost;
    const { method, path } = call;
    const warn = (message: string) => events.emit('warning', { method, path, message });
    const exchange = new Exchange(sent, key.value, { settings, limitMs, warn });
    let failure: unknown;
    try {
      const text = await run(() => exchange.run(http));
      const response = exchange.response as Response; // as: the text of the response was read
      const received = { response, text, key: key.value, keyOrigin: keyring.origin };
      const body = readAnswer(received, sent);
      state.outcome = undefined;
      return { body, response };
    } catch (reason) {
      // 3. Record the outcome, once. An abort rejects with the caller's own reason.
      failure = reason;
      if (isPostreelError(reason) && !isAbortOf(signal, reason)) {
        state.outcome = reason.outcome;
      } else {
        state.outcome = exchange.isSent ? whenLost : 'not-sent';
      }
      // The budget pauses all calls before it releases this slot.
      if (reason instanceof RateLimitError && !isAbortOf(signal, reason)) {
        budget?.pause(Math.min(pauseMs(reason, number, settings.windowMs), maxCloseMs));
      }
    } finally {
      endSlot(slot, state.outcome, exchange);
      if (events.isObserved('response')) {
        const { response } = exchange;
        events.emit('response', {
          ...facts(),
          status: response?.status,
          durationMs: clock.now() - sentAt,
          requestId: response && requestIdOf(response, call, key.value),
          outcome: state.outcome,
        });
      }
    }

    if (isAbortOf(signal, failure)) {
      throw failure; // the reason of an abort may be a PostreelError, but it is not a response
    }
    // 4. React to the error. After a 401 there may be another key.
    if (await this.#isKeyRenewed(failure, call, key)) {
      return this.#attempt(number, call, key, budget);
    }
    // If a DELETE got no response and a repetition finds nothing, the first attempt has deleted the record.
    const isGone = isPostreelError(failure) && failure.status === 404 && call.method === 'DELETE';
    if (isGone && state.mayHaveHappened) {
      state.outcome = undefined;
      return { body: undefined, response: new Response(null, { status: 204 }) };
    }
    throw failure;
  }

  // ---- the parts of a call

  /** Emits the `request` event. Returns the function that runs the request: a tracer may replace it. */
  #reportRequest(facts: () => CallEvent): RunRequest {
    const { events } = this.#parts;
    let run: RunRequest = (request) => request();
    if (events.isObserved('request')) {
      const within = (given: RunRequest) => {
        run = given;
      };
      // Not enumerable, so that loggers do not print it.
      const event = Object.defineProperty(facts(), 'within', { value: within }) as RequestEvent;
      events.emit('request', event);
    }
    return run;
  }

  #budgetOf({ isCharged }: PreparedCall, { value }: CallKey): Budget | undefined {
    const { budgets, keyring } = this.#parts;
    return isCharged ? budgets.for(value ?? keyring.current) : undefined;
  }

  #acquire(budget: Budget, number: number, call: PreparedCall): Slot | Promise<Slot> {
    const { settings, events } = this.#parts;
    const { method, path, signal, options, deadlineAt, clock } = call;
    signal?.throwIfAborted();
    const leftMs = deadlineAt - clock.now();
    return budget.acquire({
      method,
      path,
      signal,
      priority: options.priority ?? 'interactive',
      isRepeat: number > 1,
      maxWaitMs: Math.min(settings.maxQueueMs, leftMs),
      limitedBy: settings.maxQueueMs < leftMs ? 'maxQueueMs' : 'deadline',
      onWait: (event) => events.emit('throttled', event),
      onWarning: (message) => events.emit('warning', { method, path, message }),
    });
  }

  /** Is there another key after a 401? A rejected call had no effect: it may be sent again, once. */
  async #isKeyRenewed(failure: unknown, call: PreparedCall, key: CallKey): Promise<boolean> {
    const { keyring, session } = this.#parts;
    const isRefused = isPostreelError(failure) && failure.status === 401;
    if (!isRefused || !key.mayRenew || !keyring.canRenew(key.value)) {
      return false;
    }
    key.mayRenew = false;
    const refused = key.value;
    try {
      key.value = await this.#fetchedKey(keyring.renew(refused), call);
      keyring.authorize(call.route, key.value, session);
    } catch (reason) {
      // Without another key the outcome is `rejected`: the service received the call and refused it.
      throw isPostreelError(reason) ? Object.assign(reason, { outcome: 'rejected' }) : reason;
    }
    return key.value !== refused;
  }

  // If fetching the key takes longer than `timeout`, the next call starts a new fetch instead of waiting for
  // this one.
  async #fetchedKey(key: Promise<string | null>, call: PreparedCall): Promise<string | null> {
    const { timeoutMs, signal, clock } = call;
    const timer = new Timer(timeoutMs, undefined, clock);
    try {
      const fetched = await inTime(timer.withinThenStop(key), call);
      signal?.throwIfAborted();
      return fetched;
    } catch (failure) {
      if (!timer.timedOut) {
        throw failure;
      }
      this.#parts.keyring.dropPendingFetch();
      throw keyUnavailableError(new Error(`No answer within ${timeoutMs} ms.`));
    }
  }

  // Most clients have no listeners for whole calls: skip the work for them.
  #reportStart(call: PreparedCall): ((error?: unknown) => void) | undefined {
    const { events, settings } = this.#parts;
    if (!events.hasListeners('call:end')) {
      return undefined;
    }
    const facts = factsOf(call);
    const { clock } = call;
    const startedAt = clock.now();
    events.emit('call:start', { ...facts, baseUrl: settings.baseUrl });
    return (error) => {
      const durationMs = clock.now() - startedAt;
      events.emit('call:end', { ...facts, durationMs, outcome: call.state.outcome, error });
    };
  }
}

/** The last step before a request is sent: determines its time limit and its body. */
async function prepareToSend(
  call: PreparedCall,
  slot: Slot | undefined,
): Promise<{ limitMs: number; body: unknown }> {
  const { signal, input, deadlineAt, timeoutMs, clock } = call;
  try {
    signal?.throwIfAborted(); // the caller may have aborted while the slot was granted
    const body = await input.hooks?.beforeSending?.();
    signal?.throwIfAborted();
    const leftMs = deadlineAt - clock.now();
    if (leftMs <= 0) {
      throw notSentInTimeError(call);
    }
    return { limitMs: Math.min(timeoutMs, leftMs), body };
  } catch (failure) {
    slot?.cancel();
    throw failure;
  }
}

function replaceBody(call: PreparedCall, body: unknown): PreparedCall {
  const isPartial = (status: number | undefined) =>
    call.route.partial?.(body as never, status) ?? false; // as: the body of this row
  return { ...call, isPartial, request: { ...call.request, body: encodeJson(body) } };
}

function endSlot(
  slot: Slot | undefined,
  outcome: Outcome | undefined,
  { response }: Exchange,
): void {
  if (outcome === 'not-sent') {
    slot?.cancel();
  } else if (response) {
    slot?.release();
  } else {
    slot?.abandon();
  }
}

/** The facts of a call that every event holds. The path of a call without a row may contain private data. */
function factsOf({ id, route, method, path }: PreparedCall): Omit<CallEvent, 'attempt'> {
  return { callId: id, method, path, route: route.isUntyped ? undefined : route.path };
}

// An invalid option is rejected by the call of the first page.
function prefetchOf(options: ListOptions): number | undefined {
  try {
    return readCallOptions(options).prefetch;
  } catch {
    return undefined;
  }
}
