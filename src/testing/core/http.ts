import { sleep, onAbort } from '../../core/async.js';
import type { Fault } from './faults.js';
import type { Clock } from './clock.js';
import type { Match } from './router.js';
import type { FakeRequest, FakeAnswer, RecordedRequest } from './types.js';

/** A request in progress, its fault, and how to respond to it. */
export interface FakeExchange {
  readonly request: Request;
  readonly record: RecordedRequest;
  readonly fault: Fault | undefined;
  readonly clock: Clock;
  /** The time of the service, in milliseconds since 1970. */
  readonly serviceTime: () => number;
  readonly reply: () => Promise<Response>;
  /** The service's error response with this status. */
  readonly errorOf: (status: number) => FakeAnswer;
}

/** The recorded request of each response. */
export const recordOf = new WeakMap<Response, RecordedRequest>();

/** Responds to a request as its fault says; without a fault, normally. */
export async function breakExchange(exchange: FakeExchange): Promise<Response> {
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

async function attempt(exchange: FakeExchange): Promise<Response> {
  const { request, fault = {}, clock, reply, errorOf } = exchange;
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
    return statusAnswer(fault.status, fault, errorOf);
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

/** The error of `fetch` when a connection breaks. */
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

function statusAnswer(
  status: number,
  { body, headers, retryAfter }: Fault,
  errorOf: FakeExchange['errorOf'],
): Response {
  const wait = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  const answer = body === undefined ? errorOf(status) : { body };
  return toResponse({ ...answer, status, headers: { ...answer.headers, ...wait, ...headers } });
}

const brokenJson = ({ status }: Response) =>
  toResponse({
    status,
    body: '{"data": [{"id": ',
    headers: { 'Content-Type': 'application/json' },
  });

/** A request that was read, and the problem of its body, if any. */
export interface Incoming {
  readonly request: FakeRequest;
  readonly problem: Refusal | undefined;
}

interface Body {
  readonly body: unknown;
  readonly form: FormData | undefined;
  readonly problem: Refusal | undefined;
}

/** Reads a complete request. A body that cannot be read is reported only when the handler runs. */
export async function readRequest(
  request: Request,
  url: URL,
  { path, route }: { readonly path: string; readonly route: Match | undefined },
): Promise<Incoming> {
  const { body, form, problem } = request.body === null ? noBody : await readBody(request);
  return {
    problem,
    request: {
      method: request.method,
      path,
      params: route?.params ?? {},
      query: url.searchParams,
      headers: request.headers,
      body,
      form,
    },
  };
}

const noBody: Body = { body: undefined, form: undefined, problem: undefined };

async function readBody(request: Request): Promise<Body> {
  const type = request.headers.get('content-type') ?? '';
  if (type.startsWith('multipart/form-data')) {
    return readForm(request);
  }
  const text = await request.text();
  if (text === '') {
    return noBody;
  }
  // Bodies are JSON unless multipart is stated (messaging, Endpoints; media, Endpoints).
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) {
    return malformed('Content-Type must be application/json.');
  }
  try {
    return { ...noBody, body: JSON.parse(text) };
  } catch {
    return malformed('The body is not valid JSON.');
  }
}

async function readForm(request: Request): Promise<Body> {
  try {
    return { ...noBody, form: await request.formData() };
  } catch {
    return malformed('The multipart body cannot be read.');
  }
}

/** 400: invalid parameters or malformed body (messaging, Errors). */
function malformed(message: string): Body {
  return { ...noBody, problem: new Refusal(400, 'BAD_REQUEST', message) };
}

const encoder = new TextEncoder();

/** Converts the result of a handler to a response: a string unchanged, everything else as JSON. */
export function toResponse({ status = 200, body, headers = {} }: FakeAnswer): Response {
  if (body === undefined) {
    return new Response(null, { status, headers });
  }
  const isText = typeof body === 'string';
  const bytes = encoder.encode(isText ? body : JSON.stringify(body));
  return new Response(bytes, {
    status,
    headers: {
      'Content-Type': isText ? 'text/plain; charset=utf-8' : 'application/json',
      'Content-Length': String(bytes.length),
      ...headers,
    },
  });
}

/** One field that a request got wrong. */
export interface FieldError {
  field: string;
  message: string;
  code: string;
}

/** Further details of a refusal. */
interface RefusalDetails {
  errors?: FieldError[];
  suggestion?: string;
  /** Sent unchanged, instead of the usual error body. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** Thrown by handlers: the service responds with its status and an error body. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: RefusalDetails;

  constructor(status: number, code: string, message: string, details: RefusalDetails = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.details = details;
  }

  /** The same refusal with another status. */
  withStatus(status: number): Refusal {
    return new Refusal(status, this.code, this.message, this.details);
  }
}

/** The same response, but the connection breaks after half of its bytes. */
export function truncate(response: Response): Response {
  return halve(response, (controller) => controller.error(new TypeError('terminated')));
}

/** The same response, but nothing follows half of its bytes until the caller gives up. */
export function stall(
  response: Response,
  hold: (until: Promise<void>) => Promise<void>,
  signal: AbortSignal,
): Response {
  const aborted = () => new Promise<void>((resolve) => onAbort(signal, resolve));
  return halve(response, async (controller) => {
    await hold(aborted());
    controller.error(signal.reason);
  });
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

function halve(
  response: Response,
  end: (controller: Controller) => void | Promise<void>,
): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    return response;
  }
  let left = Math.floor(Number(response.headers.get('content-length') ?? 0) / 2);
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      if (left === 0) {
        await end(controller);
        return;
      }
      const { value } = await reader.read();
      const part = value?.subarray(0, left) ?? new Uint8Array();
      left = value === undefined ? 0 : left - part.length;
      if (part.length > 0) {
        controller.enqueue(part);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  };
  // Do not buffer ahead: an error would discard the chunks that were not read yet.
  const body = new ReadableStream(source, { highWaterMark: 0 });
  return new Response(body, { status: response.status, headers: response.headers });
}
