import { sleep } from '../../../core/async.js';
import { toResponse } from './answer.js';
import { stall, truncate } from './truncate.js';
import type { Fault } from '../faults.js';
import type { RecordedRequest } from '../record.js';
import type { Clock } from '../time/clock.js';

/** One request on its way, the fault that strikes it, and how it would be answered. */
export interface Exchange {
  readonly request: Request;
  readonly record: RecordedRequest;
  readonly fault: Fault | undefined;
  readonly clock: Clock;
  /** The service's own time, in milliseconds since 1970. */
  readonly serviceTime: () => number;
  readonly reply: () => Promise<Response>;
}

/** The request that an answer belongs to. */
export const recordOf = new WeakMap<Response, RecordedRequest>();

/** Answers a request the way its fault has it; without one, properly. */
export async function breakExchange(exchange: Exchange): Promise<Response> {
  const { request, record, fault, clock, serviceTime } = exchange;
  request.signal.throwIfAborted();
  if (fault?.slow !== undefined) {
    await clock.whileHeld(sleep(fault.slow, request.signal, clock));
  }
  const response = await attempt(exchange);
  request.signal.throwIfAborted();
  if (!response.headers.has('date')) {
    response.headers.set('Date', new Date(serviceTime()).toUTCString());
  }
  record.status = response.status;
  recordOf.set(response, record);
  return response;
}

async function attempt({ request, fault = {}, clock, reply }: Exchange): Promise<Response> {
  if (fault.drop) {
    throw connectionLost();
  }
  if (fault.hang) {
    return clock.whileHeld(untilAborted(request.signal));
  }
  if (fault.html) {
    return gatewayPage(fault);
  }
  if (fault.status !== undefined) {
    return statusAnswer(fault.status, fault);
  }
  const response = await reply();
  if (fault.loseAnswer) {
    throw connectionLost();
  }
  if (fault.truncate) {
    return truncate(response);
  }
  if (fault.stall) {
    return stall(response, (until) => clock.whileHeld(until), request.signal);
  }
  if (fault.malformed) {
    return brokenJson(response);
  }
  return response;
}

/** What `fetch` rejects with when a connection breaks. */
const connectionLost = () => new TypeError('fetch failed', { cause: new Error('connection lost') });

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- like fetch: rejects with the reason, whatever it is
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function gatewayPage({ status = 502, headers }: Fault): Response {
  const body = `<html><head><title>${status} Bad Gateway</title></head><body>nginx</body></html>`;
  return toResponse({ status, body, headers: { 'Content-Type': 'text/html', ...headers } });
}

function statusAnswer(status: number, { body, headers, retryAfter }: Fault): Response {
  const wait = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  return toResponse({ status, body, headers: { ...wait, ...headers } });
}

const brokenJson = ({ status }: Response) =>
  toResponse({
    status,
    body: '{"data": [{"id": ',
    headers: { 'Content-Type': 'application/json' },
  });
