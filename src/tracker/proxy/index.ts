import { Callers } from './callers.js';
import type { ProxyAnswer } from './forward.js';
import { type TrackProxyOptions, checkProxyOptions } from './options.js';
import { type IncomingEvent, isJson, isSameOrigin, readEvents } from './read.js';
import { Sender } from './sender.js';

export { type ProxiedEvent, type TrackProxyOptions } from './options.js';

/**
 * Creates a handler for your proxy route, for any server with `Request` and `Response`.
 *
 * The page needs no preflight, no host that a blocker knows, and no key. Point a tracker with `proxy: true`
 * at the route. The handler passes on `event`, `email` and `data` only, and sends each id once: an event
 * whose response leaves open whether the service took it is never sent again. It rejects requests from other
 * origins, and those of more than 64 KB or 20 events. Beyond `perCaller` and `perMinute` the page gets a 429
 * and waits. The route is as public as a public key, unless `authorize` decides whose contact an event gets.
 *
 * @example
 * // Serves POST /collect/v1/track for `createTracker({ proxy: true, baseUrl: '/collect' })`.
 * export const POST = createTrackProxy({ apiKey, baseUrl });
 */
export function createTrackProxy(
  given: TrackProxyOptions,
): (request: Request) => Promise<Response> {
  const options = checkProxyOptions(given);
  const sender = new Sender(options);
  const callers = options.callerOf && new Callers(options.perCaller ?? 60);
  const handleEvent = async (
    request: Request,
    item: IncomingEvent | undefined,
    caller: Caller,
  ): Promise<ProxyAnswer> => {
    if (!item) {
      return { status: 400 };
    }
    const { name, isUnknown } = await caller;
    const waitMs = isUnknown ? 0 : callers?.take(name);
    if (waitMs) {
      return { status: 429, retryAfterMs: waitMs };
    }
    const allowed = isUnknown ? 503 : await authorizeEvent(request, item, options);
    return typeof allowed === 'number' ? { status: allowed } : sender.send(allowed);
  };
  return async (request) => {
    const refusal = refusalOf(request, options);
    if (refusal) {
      return respond({ status: refusal });
    }
    const deadline = createDeadline(options.timeout ?? 10_000);
    try {
      // A body that was not read to its end counts as an invalid request.
      const read = await deadline.or(
        504,
        readEvents(request).catch(() => 400),
      );
      if (typeof read === 'number') {
        return respond({ status: read });
      }
      const caller = nameOf(request, options);
      // Send the events of different contacts in parallel, so that one slow event does not hide the outcome
      // of the others. Those of one contact keep their order.
      const inTurn = createTurns();
      const answers = await Promise.all(
        read.items.map((item) => {
          const answer = inTurn(item?.event.email, () => handleEvent(request, item, caller));
          return deadline.or<ProxyAnswer, ProxyAnswer>({ status: 504 }, answer);
        }),
      );
      return read.isList ? respondToList(answers) : respond(answers[0] ?? { status: 400 });
    } finally {
      deadline.clear();
    }
  };
}

/** The status that rejects a request before its body is read. */
function refusalOf(request: Request, { origins }: TrackProxyOptions): number | undefined {
  // Another site can send JSON only after a preflight, which this proxy never grants.
  if (request.method !== 'POST' || !isJson(request)) {
    return 415;
  }
  return isSameOrigin(request, origins) ? undefined : 403;
}

/** The caller of a request; `isUnknown` if `callerOf` failed. */
type Caller = Promise<{ readonly name?: string | undefined; readonly isUnknown?: true }>;

async function nameOf(request: Request, { callerOf }: TrackProxyOptions): Caller {
  try {
    // as: plain JavaScript may return anything, such as a user's number
    const name = (await callerOf?.(request)) as string | number | null | undefined;
    return { name: name == null ? undefined : String(name) };
  } catch {
    return { isUnknown: true };
  }
}

/** The event as `authorize` allows it; a number is the status that rejects it. */
async function authorizeEvent(
  request: Request,
  item: IncomingEvent,
  { authorize }: TrackProxyOptions,
): Promise<IncomingEvent | number> {
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
    // No event was sent: the page tries again later.
    return 503;
  }
}

/** After this time a slow event no longer delays the next events of its contact. */
const MAX_TURN_MS = 1000;

/** Runs the tasks of one name one after another. */
function createTurns() {
  const last = new Map<string | undefined, Promise<unknown>>();
  return async <Result>(name: string | undefined, work: () => Promise<Result>): Promise<Result> => {
    const before = last.get(name);
    const turn = Promise.race([before, before && sleep(MAX_TURN_MS)]).then(work);
    last.set(name, turn);
    return turn;
  };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The deadline for the response to a page, even if work is still in progress. */
function createDeadline(delayMs: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, delayMs);
  });
  return {
    or: <Result, Late>(late: Late, work: Promise<Result>): Promise<Result | Late> =>
      Promise.race([work, passed.then(() => late)]),
    clear: () => clearTimeout(timer),
  };
}

/** Builds a neutral response: the page does not see the service's messages. */
function respond({ status, retryAfterMs }: ProxyAnswer, results?: readonly number[]): Response {
  const headers = new Headers({
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
  });
  if (retryAfterMs !== undefined) {
    headers.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  }
  return new Response(JSON.stringify({ success: status === 200, results }), {
    status,
    headers,
  });
}

function respondToList(answers: readonly ProxyAnswer[]): Response {
  const refused = answers.find((answer) => answer.retryAfterMs !== undefined);
  return respond(
    { status: 200, retryAfterMs: refused?.retryAfterMs },
    answers.map(({ status }) => status),
  );
}
