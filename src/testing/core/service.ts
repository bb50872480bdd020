import { withClock } from '../../core/async.js';
import type { EndpointName } from '../endpoint-names.js';
import { mswHandlers, type MswHandler } from '../msw.js';
import { unpacked } from '../wire/delivery.js';
import type { Clock } from './time/clock.js';
import type { Duration } from './time/duration.js';
import { breakExchange } from './http/exchange.js';
import { createFaults, type Fault, type Faults } from './faults.js';
import { createPipeline } from './pipeline.js';
import { createRecorder, type RecordedRequest } from './record.js';
import { readRequest } from './http/request.js';
import { createRouter, endpointsOf, type Match } from './http/router.js';
import type { SecondAddress, ServiceOptions } from './service-options.js';

export type { ServiceOptions } from './service-options.js';

/** A fake service: one world behind `fetch`, MSW handlers or a server. */
export interface Service {
  readonly baseUrl: string;
  readonly clock: Clock;
  /** Every request so far, oldest first. */
  readonly requests: RecordedRequest[];
  readonly faults: Faults;
  /** The methods and paths it answers, as the endpoint table spells them. */
  readonly endpoints: string[];
  /** Stands in for the global `fetch`; knows only the addresses of this fake, and brings its time. */
  readonly fetch: typeof fetch;
  /** Answers one request; rejects where a network would fail. */
  readonly handle: (request: Request) => Promise<Response>;
  /** Request handlers for MSW's `setupServer` and `setupWorker`. */
  readonly handlers: () => Promise<MswHandler[]>;
  /** Plans a fault for an endpoint (`'POST /v1/send'`, or `'*'` for each); the answer takes it back. */
  readonly fail: (endpoint: EndpointName | '*' | (string & {}), fault: Fault) => () => void;
  /** Moves a fake's time on, e.g. `advance('10m')`, and waits for what happens in it. */
  readonly advance: (duration: Duration) => Promise<void>;
  /** Forgets requests, faults and rate-limit counts. */
  readonly reset: () => void;
}

/** What a client of a fake is made with: `new MediaClient(fake.options)`. */
export interface FakeClientOptions {
  readonly apiKey: string;
  readonly baseUrl: string;
  /** Answers for the fake, without a socket. */
  readonly fetch: typeof fetch;
}

/** Builds a service out of its handlers and rules. */
export function createService<Scope>(options: ServiceOptions<Scope>): Service {
  const { clock, also, limit } = options;
  const endpoints = Object.keys(options.handlers);
  refuseUnknown(endpoints, endpointsOf(options.service));
  const faults = createFaults([...endpoints, ...named(also)], options.random ?? Math.random);
  const recorder = createRecorder(clock);
  const pipeline = createPipeline(options);
  const findTarget = createTargets(options, endpoints);
  const serviceTime = () => clock.now() + (limit.clockAheadMs ?? 0);

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
    const fault = route === undefined ? undefined : faults.take(route.endpoint);
    return breakExchange({ request, record, fault, clock, serviceTime, reply });
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
    fetch: withClock(
      async (input, init) => unpacked(await handle(new Request(input, init))),
      clock,
    ),
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
