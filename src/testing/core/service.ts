import { withClock } from '../../core/async.js';
import type { EndpointName } from '../endpoint-names.js';
import { mswHandlers, type MswHandler } from '../msw.js';
import { isError } from '../../core/errors.js';
import type { Clock, Duration } from './clock.js';
import { breakExchange, readRequest, Refusal, toResponse, type Incoming } from './http.js';
import { createFaults, type Fault, type Faults } from './faults.js';
import { createRouter, endpointsOf, type Match } from './router.js';
import { type RateLimitOptions, createRateLimiter } from './rate-limit.js';
import type { FakeAnswer, FakeRequest, Handlers, RecordedRequest } from './types.js';

/** A fake service: one world behind `fetch`, MSW handlers or a server. */
export interface Service {
  readonly baseUrl: string;
  readonly clock: Clock;
  /** Every request so far, oldest first. */
  readonly requests: RecordedRequest[];
  readonly faults: Faults;
  /** The methods and paths it answers, as the endpoint table spells them. */
  readonly endpoints: string[];
  /** Replaces the global `fetch`; reaches only the addresses of this fake, and uses its clock. */
  readonly fetch: typeof fetch;
  /** Handles one request; rejects where a network would fail. */
  readonly handle: (request: Request) => Promise<Response>;
  /** Request handlers for MSW's `setupServer` and `setupWorker`. */
  readonly handlers: () => Promise<MswHandler[]>;
  /**
   * Plans a fault for an endpoint (`'POST /v1/send'`, or `'*'` for each); returns the function that removes
   * it.
   */
  readonly fail: (endpoint: EndpointName | 'GET /cdn/{file}' | '*', fault: Fault) => () => void;
  /** Advances the fake's time, e.g. `advance('10m')`, and waits for the tasks that become due. */
  readonly advance: (duration: Duration) => Promise<void>;
  /** Clears requests, faults and rate-limit counts. */
  readonly reset: () => void;
}

/** Client options for a fake: `new MediaClient(fake.options)`. */
export interface FakeClientOptions {
  readonly apiKey: string;
  readonly baseUrl: string;
  /** Reaches the fake without a socket. */
  readonly fetch: typeof fetch;
}

/** Builds a service from its handlers and rules. */
export function createService<Scope>(options: ServiceOptions<Scope>): Service {
  const { clock, also, limit } = options;
  const endpoints = Object.keys(options.handlers);
  refuseUnknown(endpoints, endpointsOf(options.service));
  const faults = createFaults([...endpoints, ...named(also)], options.random ?? Math.random);
  const recorder = createRecorder(clock);
  const pipeline = createPipeline(options);
  const findTarget = createTargets(options, endpoints);
  const serviceTime = () => clock.now() + (limit().clockAheadMs ?? 0);

  async function handle(request: Request): Promise<Response> {
    request.signal.throwIfAborted();
    clock.runDue();
    const url = new URL(request.url);
    const { path, route, second } = findTarget(request.method, url);
    const incoming = await clock.whileAnswering(() => readRequest(request, url, { path, route }));
    const record = recorder.add(incoming.request, route?.endpoint);
    const reply = () =>
      clock.whileAnswering(async () =>
        second === undefined
          ? pipeline.answer(incoming, route?.endpoint)
          : second.answer(request, path),
      );
    const errorOf = (status: number) =>
      second === undefined ? pipeline.errorOf(status, incoming.request) : {};
    const fault = route === undefined ? undefined : faults.take(route.endpoint);
    return breakExchange({ request, record, fault, clock, serviceTime, reply, errorOf });
  }

  function reset(): void {
    recorder.requests.length = 0;
    faults.clear();
    pipeline.reset();
  }

  return {
    baseUrl: trim(options.baseUrl),
    clock,
    endpoints,
    faults,
    handle,
    reset,
    requests: recorder.requests,
    fetch: withClock((input, init) => handle(new Request(input, init)), clock),
    handlers: () =>
      mswHandlers([options.baseUrl, ...(also ? [also.baseUrl] : [])].map(trim), handle),
    fail: (endpoint, fault) => faults.fail(endpoint, fault),
    advance: (duration) => clock.advance(duration),
  };
}

/** The endpoint table is the only source of methods and paths. */
function refuseUnknown(endpoints: readonly string[], table: readonly string[]): void {
  const unknown = endpoints.filter((endpoint) => !table.includes(endpoint));
  if (unknown.length > 0) {
    throw new TypeError(`Not in the endpoint table: ${unknown.join(', ')}.`);
  }
}

const named = (also: SecondAddress | undefined) => (also === undefined ? [] : [also.endpoint]);

interface Target {
  readonly path: string;
  readonly route: Match | undefined;
  readonly second?: SecondAddress;
}

type FindTarget = (method: string, url: URL) => Target;

function createTargets<Scope>(
  { baseUrl, also }: ServiceOptions<Scope>,
  endpoints: readonly string[],
): FindTarget {
  const findRoute = createRouter(endpoints);
  return (method, url) => {
    const elsewhere = also && pathBelow(trim(also.baseUrl), url);
    if (also !== undefined && elsewhere !== undefined) {
      return { path: elsewhere, route: { endpoint: also.endpoint, params: {} }, second: also };
    }
    const path = pathBelow(trim(baseUrl), url);
    if (path === undefined) {
      throw new TypeError(`This fake does not serve ${url.origin}.`);
    }
    return { path, route: findRoute(method, path) };
  };
}

const trim = (baseUrl: string) => baseUrl.replace(/\/+$/, '');

function pathBelow(baseUrl: string, url: URL): string | undefined {
  const address = url.origin + url.pathname;
  if (!address.startsWith(baseUrl)) {
    return undefined;
  }
  const path = address.slice(baseUrl.length);
  return path === '' || path.startsWith('/') ? path : undefined;
}

/** The parts of a service. */
export interface ServiceOptions<Scope> {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly service: 'messaging' | 'media';
  readonly handlers: Handlers<Scope>;
  /**
   * Authenticates the caller before the handler runs: returns the scope, or throws a `Refusal` with 401 or
   * 403.
   */
  enter(request: FakeRequest, endpoint: string): Scope;
  /** The name of the rate-limit bucket (the project, the key), or undefined for calls that do not count. */
  bucket(request: FakeRequest, endpoint: string): string | undefined;
  /** Returns the current rate limit. */
  readonly limit: () => RateLimitOptions;
  readonly wire: Wire;
  /** A second address outside the endpoint table, e.g. the CDN of finished files. */
  readonly also?: SecondAddress;
  /** Chance, for faults with a `probability`. @default Math.random */
  readonly random?: () => number;
}

/** Translates between the handlers, which follow the documents, and the wire format of one world. */
export interface Wire {
  /** Converts a request to the form that the handlers read. */
  request(request: FakeRequest, endpoint: string): FakeRequest;
  /** Converts a handler's response to the form of this world. */
  answer(answer: FakeAnswer, endpoint: string): FakeAnswer;
  /**
   * Builds the response of a refusal: an object is sent as JSON, a string unchanged, `undefined` as an empty
   * body.
   */
  refusal(refusal: Refusal, request: FakeRequest, requestId: string): FakeAnswer;
  /** Changes a response just before it is delivered. */
  deliver(response: Response): Response;
}

/**
 * Handles requests outside the endpoint table: without keys and rate limit, but recorded and subject to
 * faults.
 */
interface SecondAddress {
  readonly baseUrl: string;
  /** The name of this address in faults and records. */
  readonly endpoint: string;
  answer(request: Request, path: string): Response;
}

/** The steps of a request: known path, key, rate limit, body, handler. */
interface Pipeline {
  answer(incoming: Incoming, endpoint: string | undefined): Promise<Response>;
  /** The error response of a status; empty for a status that the documents do not name. */
  errorOf(status: number, request: FakeRequest): FakeAnswer;
  reset(): void;
}

function createPipeline<Scope>(options: ServiceOptions<Scope>): Pipeline {
  const limiter = createRateLimiter(options.limit);
  const { wire } = options;
  let refusals = 0;

  async function answer(incoming: Incoming, endpoint: string | undefined): Promise<Response> {
    const headers: Record<string, string> = {};
    const given = await run(incoming, endpoint, headers).catch((error: unknown) =>
      refused(asRefusal(error), incoming.request),
    );
    const response = toResponse({ ...given, headers: { ...headers, ...given.headers } });
    return wire.deliver(response);
  }

  async function run(
    { request, problem }: Incoming,
    endpoint: string | undefined,
    headers: Record<string, string>,
  ): Promise<FakeAnswer> {
    const handler = endpoint === undefined ? undefined : options.handlers[endpoint];
    if (endpoint === undefined || handler === undefined) {
      throw new Refusal(404, 'NOT_FOUND', `${request.method} ${request.path} does not exist.`);
    }
    const understood = wire.request(request, endpoint);
    const scope = options.enter(understood, endpoint);
    count(options.bucket(understood, endpoint), headers);
    if (problem !== undefined) {
      throw problem;
    }
    return wire.answer(await handler(understood, scope), endpoint);
  }

  function count(bucket: string | undefined, headers: Record<string, string>): void {
    if (bucket === undefined) {
      return;
    }
    const verdict = limiter.check(bucket, options.clock.now());
    Object.assign(headers, verdict.headers);
    if (!verdict.isAllowed) {
      throw new Refusal(429, 'RATE_LIMITED', 'Rate limit exceeded.');
    }
  }

  function refused(refusal: Refusal, request: FakeRequest): FakeAnswer {
    refusals += 1;
    const requestId = `req_${String(refusals).padStart(6, '0')}`;
    const given = wire.refusal(refusal, request, requestId);
    return { ...given, headers: { ...given.headers, ...refusal.details.headers } };
  }

  return {
    answer,
    errorOf(status, request) {
      const [code, message] = errors[status] ?? [];
      return code === undefined || message === undefined
        ? {}
        : refused(new Refusal(status, code, message), request);
    },
    reset: () => limiter.reset(),
  };
}

/** messaging, Errors: the statuses with their meanings, and a code for each. */
const errors: Readonly<Record<number, readonly [code: string, message: string]>> = {
  400: ['BAD_REQUEST', 'The request is invalid.'],
  401: ['UNAUTHORIZED', 'The API key is missing or invalid.'],
  403: ['FORBIDDEN', 'The API key is not authorized for this resource.'],
  404: ['NOT_FOUND', 'The resource does not exist.'],
  409: ['CONFLICT', 'The resource is in use.'],
  422: ['VALIDATION_ERROR', 'Validation failed.'],
  429: ['RATE_LIMITED', 'Rate limit exceeded.'],
  500: ['INTERNAL_ERROR', 'An unexpected error occurred.'],
};

/** Converts an error of the fake itself to a 500 with its message, so that it is visible. */
function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) {
    return error;
  }
  const message = isError(error) ? (error.stack ?? error.message) : String(error);
  return new Refusal(500, 'INTERNAL_ERROR', `The fake failed: ${message}`);
}

interface Recorder {
  readonly requests: RecordedRequest[];
  add(request: FakeRequest, endpoint: string | undefined): RecordedRequest;
}

function createRecorder(clock: Clock): Recorder {
  const requests: RecordedRequest[] = [];
  return {
    requests,
    add(request, endpoint) {
      const record: RecordedRequest = {
        method: request.method,
        path: request.path,
        endpoint,
        query: Object.fromEntries(request.query),
        headers: Object.fromEntries(request.headers),
        body: request.body ?? request.form,
        at: clock.now(),
        status: undefined,
      };
      requests.push(record);
      return record;
    },
  };
}
