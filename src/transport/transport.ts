import type { Answer, RequestOptions } from '../contract/call.js';
import type { ClientEvents } from '../contract/events.js';
import type { Input, ItemOf, Returned } from '../contract/methods.js';
import type { Paginated } from '../contract/paginated.js';
import type { Method, Route } from '../contract/route.js';
import { UnexpectedResponseError, isPostreelError } from '../errors/index.js';
import { PagedList } from '../pagination/paginated.js';
import { readList } from '../pagination/styles.js';
import { attempt, type Arrival, type Journey, type Surroundings } from './attempt.js';
import { authorize, isBrowser } from './auth.js';
import type { BudgetSource } from './budgets.js';
import { build, isAccountRoute } from './build.js';
import { RunningCall, type CallState } from './call.js';
import { monotonicMs } from './clock.js';
import { deliver } from './delivery.js';
import { unwrap } from './envelope.js';
import type { Events } from './events.js';
import { requestIdOf } from './judge.js';
import { freeRoute, type FreeInput } from './free-request.js';
import type { Keyring } from './keyring.js';
import type { RateLimitState } from './rate-budget.js';
import { refuse } from './refuse.js';
import type { Session } from './session.js';
import { positive, count, type Settings } from './settings.js';
import { fillPath } from './url.js';
import { answerProblems, bodyWarnings, requestProblems, type SchemaMap } from './validation.js';

/** What a transport is made of. */
export interface TransportParts {
  readonly settings: Settings;
  readonly keyring: Keyring;
  readonly session: Session;
  readonly budgets: BudgetSource;
  readonly events: Events<ClientEvents>;
  readonly loadSchemas: () => Promise<SchemaMap>;
}

/** The input of a call, whatever its route's types say. */
export interface RawInput {
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: object | undefined;
  readonly body?: unknown;
  /** Is this a look at something that changes by itself? */
  readonly isPoll?: boolean | undefined;
}

/** Takes calls to the service and answers back: build, check, gate, send, unwrap, check. */
export class Transport {
  readonly #parts: TransportParts;
  #schemas: SchemaMap | undefined;

  constructor(parts: TransportParts) {
    this.#parts = parts;
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
    options?: RequestOptions,
  ): RunningCall<unknown> {
    const row = freeRoute(method, path, this.#parts.keyring.current !== null);
    return this.call(row, input, options);
  }

  /** What is left of the rate limit right now; `undefined` when it is off. */
  rateLimit(): RateLimitState | undefined {
    const { budgets, keyring } = this.#parts;
    if (keyring.current === undefined) return undefined;
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
    const journey = this.#plan(route, input, options, state);
    await this.#checkRequest(journey, input);
    const key = await this.#authorized(route);
    options.signal?.throwIfAborted();
    const { body, response } = await this.#deliver(journey, input, options, key);
    state.outcome = undefined;
    if (isAccountRoute(route)) this.#keepSession(route, response);
    const data = this.#resultOf(journey, body);
    await this.#checkAnswer(journey, data);
    return { data, response, requestId: requestIdOf(response.headers) };
  }

  #plan(route: Route, input: RawInput, options: RequestOptions, state: CallState): Journey {
    const { settings } = this.#parts;
    const deadlineMs =
      options.deadline === undefined ? undefined : positive('deadline', options.deadline);
    return {
      route,
      state,
      path: fillPath(route.path, input.params),
      isPartial: route.handledOneByOne?.(input.body as never) ?? false, // rows know their bodies
      signal: options.signal,
      timeoutMs:
        options.timeout === undefined ? settings.timeoutMs : positive('timeout', options.timeout),
      deadlineAt: deadlineMs === undefined ? Number.POSITIVE_INFINITY : monotonicMs() + deadlineMs,
      priority: options.priority ?? 'interactive',
      maxQueueMs: settings.maxQueueMs,
    };
  }

  async #checkRequest(journey: Journey, input: RawInput): Promise<void> {
    if (this.#parts.settings.validation.requests === 'off') return;
    const { route, path } = journey;
    const schemas = (await this.#loadedSchemas()).get(route);
    if (!schemas) return;
    const where = { method: route.method, path };
    const problems = requestProblems(schemas, input.body, input.query);
    if (problems.length > 0) throw refuse(problems, where);
    for (const message of bodyWarnings(schemas, input.body)) {
      this.#parts.events.emit('warning', { ...where, message });
    }
  }

  async #checkAnswer({ route, path, state }: Journey, data: unknown): Promise<void> {
    const mode = this.#parts.settings.validation.responses;
    if (mode === 'off') return;
    const schemas = (await this.#loadedSchemas()).get(route);
    const issues = schemas ? answerProblems(route, schemas, data) : [];
    if (issues.length === 0) return;
    const where = { method: route.method, path };
    this.#parts.events.emit('mismatch', { ...where, issues });
    if (mode !== 'throw') return;
    state.outcome = route.changes ? 'unknown' : 'rejected';
    throw new UnexpectedResponseError(
      `${route.method} ${path} was answered, but not as its document says: ${issues.map(({ field, message }) => `\`${field}\` ${message}`).join('; ')}.`,
      { ...where, code: 'RESPONSE_MISMATCH', fieldErrors: issues, outcome: state.outcome },
    );
  }

  async #authorized(route: Route): Promise<string | null> {
    if (route.key === 'none') return null;
    const { keyring, session } = this.#parts;
    const key = keyring.current === undefined ? await keyring.key() : keyring.current;
    authorize(route, key, session.isOpen || isBrowser());
    return key;
  }

  async #deliver(
    journey: Journey,
    input: RawInput,
    options: RequestOptions,
    key: string | null,
  ): Promise<Arrival> {
    const { settings, session, keyring } = this.#parts;
    const { route, path } = journey;
    const { query, body, isPoll = false } = input;
    const request = build(
      { route, path, query, body, isPoll, headers: options.headers },
      settings,
      session,
    );
    const around = this.#surroundings(key);
    let isFresh = !keyring.canRefresh || route.key === 'none';
    const send = async (number: number): Promise<Arrival> => {
      const headers =
        around.key === null
          ? request.headers
          : { ...request.headers, authorization: `Bearer ${around.key}` };
      try {
        return await attempt({ ...request, headers }, number, journey, around);
      } catch (failure) {
        // A refused call did not happen: with another key it may be sent again.
        if (isFresh || !isPostreelError(failure) || failure.status !== 401) throw failure;
        isFresh = true;
        around.key = await keyring.refresh();
        return send(number);
      }
    };
    const retries =
      options.retries === undefined ? settings.retries : count('retries', options.retries);
    return deliver(send, journey, around, { retries, options });
  }

  #surroundings(key: string | null): Surroundings {
    const { settings, events } = this.#parts;
    return {
      key,
      events,
      budget: this.#parts.budgets.for(key),
      windowMs: settings.limits?.windowMs ?? settings.service.windowMs,
      fetch: settings.fetch,
    };
  }

  #keepSession(route: Route, response: Response): void {
    const { session } = this.#parts;
    if (route.path === '/auth/logout') session.clear();
    else session.absorb(response.headers);
  }

  async #loadedSchemas(): Promise<SchemaMap> {
    this.#schemas ??= await this.#parts.loadSchemas();
    return this.#schemas;
  }

  // An empty answer, `true` and `{ success: true }` are answers too: an empty record stands for them.
  #resultOf({ route, path, state }: Journey, body: unknown): unknown {
    if (route.returns.list === undefined) {
      const result = unwrap(body);
      if (result !== undefined && result !== null && result !== true) return result;
      return route.returns.isNothing ? undefined : {};
    }
    const page = readList(body, route.returns);
    if (page) return page;
    state.outcome = 'rejected';
    throw new UnexpectedResponseError(
      `${route.method} ${path} was answered without a list in it.`,
      {
        code: 'UNEXPECTED_RESPONSE',
        method: route.method,
        outcome: 'rejected',
        path,
      },
    );
  }
}
