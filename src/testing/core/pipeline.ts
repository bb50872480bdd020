import { isError } from '../../core/errors.js';
import { toResponse } from './http/answer.js';
import { createRateLimiter } from './rate-limit.js';
import { Refusal } from './http/refusal.js';
import type { Incoming } from './http/request.js';
import type { ServiceOptions } from './service-options.js';
import type { FakeAnswer, FakeRequest } from './types.js';

/** The steps of a request: known path, key, rate limit, body, handler. */
export interface Pipeline {
  answer(incoming: Incoming, endpoint: string | undefined): Promise<Response>;
  reset(): void;
}

export function createPipeline<Scope>(options: ServiceOptions<Scope>): Pipeline {
  const limiter = createRateLimiter(options.limit);
  const { wire } = options;
  let refusals = 0;

  async function answer(incoming: Incoming, endpoint: string | undefined): Promise<Response> {
    const headers: Record<string, string> = {};
    const given = await run(incoming, endpoint, headers).catch((error: unknown) =>
      refused(asRefusal(error), incoming.request),
    );
    const response = toResponse({ ...given, headers: { ...headers, ...given.headers } });
    return wire.deliver(response, incoming.request.method);
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

  return { answer, reset: () => limiter.reset() };
}

/** A fault of the fake itself is shown, not hidden: 500 with its message. */
function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) {
    return error;
  }
  const message = isError(error) ? (error.stack ?? error.message) : String(error);
  return new Refusal(500, 'INTERNAL_ERROR', `The fake failed: ${message}`);
}
