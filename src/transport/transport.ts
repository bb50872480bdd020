import type { Answer, RequestOptions } from '../contract/call.js';
import type { Input, ItemOf, Returned } from '../contract/methods.js';
import type { Paginated } from '../contract/paginated.js';
import type { Method, Route } from '../contract/route.js';
import { isPostreelError, UnexpectedResponseError } from '../errors/index.js';
import { PagedList } from '../pagination/paginated.js';
import { readList } from '../pagination/styles.js';
import type { Arrival, Journey } from './send/attempt.js';
import { RunningCall, type CallState } from './call.js';
import { Checks } from './validation/validator.js';
import { unwrap } from './response/envelope.js';
import { freeRoute, splitPath, type FreeInput } from './request/custom-request.js';
import { requestIdOf } from './response/classify.js';
import type { RawInput, TransportParts } from './context.js';
import { prepare } from './request/prepare.js';
import type { RateLimitState } from './rate-limit/budget.js';
import { readBack } from './send/reconcile.js';
import { Sender } from './send/sender.js';
import { abortable } from '../async/abort.js';

/** Takes calls to the service and answers back: build, check, gate, send, unwrap, check. */
export class Transport {
  readonly #parts: TransportParts;
  readonly #checks: Checks;
  readonly #sender: Sender;

  constructor(parts: TransportParts) {
    this.#parts = parts;
    this.#checks = new Checks(parts);
    this.#sender = new Sender(parts);
  }

  /** Sends one call. It starts at once. */
  send<R extends Route>(
    route: R,
    input: Input<R> & RawInput,
    options?: RequestOptions,
  ): RunningCall<Returned<R>> {
    return this.call(route, input, options) as RunningCall<Returned<R>>; // the row says what it answers
  }

  /** The same for input and results that no row describes. */
  call(route: Route, input: RawInput, options: RequestOptions = {}): RunningCall<unknown> {
    return new RunningCall((state) => this.#run(route, input, options, state));
  }

  /** A list. Nothing is sent before its first page is wanted. */
  pages<R extends Route>(
    route: R,
    input: Input<R> & RawInput,
    options?: RequestOptions,
  ): Paginated<ItemOf<R>> {
    const { query, ...rest } = input;
    return new PagedList<ItemOf<R>>(route, query, (pageQuery) =>
      this.call(route, { ...rest, query: pageQuery }, options),
    );
  }

  /** A call to an endpoint that no row describes. */
  request(
    method: Method,
    path: string,
    input: FreeInput = {},
    options: RequestOptions = {},
  ): RunningCall<unknown> {
    return new RunningCall(async (state) => {
      state.outcome = 'not-sent'; // a path that cannot be is a failed call, not a throw
      const [place, query] = splitPath(path, input.query);
      const row = freeRoute(method, place, this.#parts.keyring.current !== null);
      return this.#run(row, { ...input, query }, options, state);
    });
  }

  /** Goes on with the key that is found for the current one, for all clients that share it. */
  swapKey({ method, path }: Route, find: (current: string) => string | undefined): void {
    const { keyring, events } = this.#parts;
    const { current } = keyring;
    if (typeof current !== 'string') {
      return;
    } // a session has no key to swap
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
    if (keyring.current === undefined) {
      return undefined;
    }
    return budgets.for(keyring.current)?.state();
  }

  async #run(
    route: Route,
    input: RawInput,
    options: RequestOptions,
    state: CallState,
  ): Promise<Answer<unknown>> {
    state.outcome = 'not-sent';
    options.signal?.throwIfAborted();
    const prepared = prepare(route, input, options, { parts: this.#parts, state });
    const { journey } = prepared;
    await abortable(this.#checks.request(journey, input), options.signal);
    const { body, response } = await this.#sender
      .send(prepared, options)
      .catch((failure: unknown) => this.#reconcile(failure, journey, input, options));
    const data = resultOf(journey, body);
    await this.#checks.answer(journey, data);
    state.outcome = undefined;
    const requestId = requestIdOf(response.headers, this.#parts.keyring.current ?? null);
    return { data, response, requestId };
  }

  // A lost answer of a call that can be read back need not stay unknown.
  async #reconcile(
    failure: unknown,
    { route, deadlineAt }: Journey,
    input: RawInput,
    options: RequestOptions,
  ): Promise<Arrival> {
    const isLost = isPostreelError(failure) && failure.outcome === 'unknown';
    if (!isLost || !options.reconcile || !route.readBack) {
      throw failure;
    }
    const call = this.call.bind(this);
    const plan = { ...options, deadlineAt };
    const found = await readBack(route.readBack, input, plan, call).catch(() => undefined);
    options.signal?.throwIfAborted();
    if (found) {
      return found;
    }
    throw failure;
  }
}

// An empty answer, `true` and `{ success: true }` are answers too: an empty record stands for them.
function resultOf({ route, path, state }: Journey, body: unknown): unknown {
  if (route.returns.list === undefined) {
    const result = unwrap(body);
    if (result !== undefined && result !== null && result !== true) {
      return result;
    }
    return route.returns.isNothing ? undefined : {};
  }
  const page = readList(body, route.returns);
  if (page) {
    return page;
  }
  const { method } = route;
  state.outcome = 'rejected';
  throw new UnexpectedResponseError(`${method} ${path} was answered without a list in it.`, {
    code: 'UNEXPECTED_RESPONSE',
    outcome: 'rejected',
    method,
    path,
  });
}
