import type { Answer } from './forward.js';
import type { TrackProxyOptions } from './options.js';
import { type Incoming, isSameOrigin, readEvents } from './read.js';
import { Sender } from './sender.js';

export { type ProxiedEvent, type TrackProxyOptions } from './options.js';

/**
 * Makes a handler for a route of your own, in any server that speaks `Request` and `Response`:
 * no preflight, no host that a blocker knows, no key in the page. Point a tracker with
 * `proxy: true` at it. Only `event`, `email` and `data` go on, one event once, however often the
 * page sends it. Requests of other origins, of more than 64 KB or 20 events are refused. Where the
 * proxy's share of the rate limit is used up, the page gets a 429 and waits. The route is as public
 * as a public key unless `authorize` says whom an event belongs to.
 *
 * @example
 * // Serves POST /collect/v1/track for `createTracker({ proxy: true, baseUrl: '/collect' })`.
 * export const POST = createTrackProxy({ apiKey, baseUrl });
 */
export function createTrackProxy(
  options: TrackProxyOptions,
): (request: Request) => Promise<Response> {
  const sender = new Sender(options);
  const handle = async (request: Request, signal: AbortSignal): Promise<Response> => {
    const refusal = refusalOf(request);
    if (refusal) {
      return respond({ status: refusal });
    }
    const read = await readEvents(request);
    if (typeof read === 'number') {
      return respond({ status: read });
    }
    const answerTo = async (item: Incoming | undefined): Promise<Answer> => {
      const allowed = item ? await authorized(request, item, options) : 400;
      return typeof allowed === 'number' ? { status: allowed } : sender.send(allowed, signal);
    };
    const answers = await Promise.all(read.items.map(answerTo));
    return read.isList ? respondToList(answers) : respond(answers[0] ?? { status: 400 });
  };
  return (request) => withinTime((signal) => handle(request, signal), options.timeout ?? 10_000);
}

/** The status that refuses a request before it is read. */
function refusalOf(request: Request): number | undefined {
  // Another site can send this type only after a preflight, which is never granted here.
  const isJson = request.headers.get('Content-Type')?.startsWith('application/json');
  if (request.method !== 'POST' || !isJson) {
    return 415;
  }
  return isSameOrigin(request) ? undefined : 403;
}

/** The event as it may go on; a number is the status that refuses it. */
async function authorized(
  request: Request,
  item: Incoming,
  { authorize }: TrackProxyOptions,
): Promise<Incoming | number> {
  if (!authorize) {
    return item;
  }
  try {
    const allowed = await authorize(request, item.event);
    if (!allowed) {
      return 403;
    }
    const { event, email, data } = allowed;
    return { id: item.id, event: { event, email, data } };
  } catch {
    // Nothing was sent: the page tries again later.
    return 503;
  }
}

async function withinTime(
  handle: (signal: AbortSignal) => Promise<Response>,
  timeoutMs: number,
): Promise<Response> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Response>((resolve) => {
    timer = setTimeout(() => {
      controller.abort();
      resolve(respond({ status: 504 }));
    }, timeoutMs);
  });
  // What is not read to its end was no request.
  const answer = handle(controller.signal).catch(() => respond({ status: 400 }));
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** Neutral: a page hears nothing of what the service said. */
function respond({ status, retryAfter }: Answer, results?: readonly number[]): Response {
  const headers = new Headers({
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
  });
  if (retryAfter) {
    headers.set('Retry-After', retryAfter);
  }
  return new Response(JSON.stringify({ success: status === 200, results }), {
    status,
    headers,
  });
}

function respondToList(answers: readonly Answer[]): Response {
  const retryAfter = answers.find((answer) => answer.retryAfter)?.retryAfter;
  return respond(
    { status: 200, retryAfter },
    answers.map(({ status }) => status),
  );
}
