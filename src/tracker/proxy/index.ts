import { Budget } from './budget.js';

/** Options of {@link createTrackProxy}. */
export interface TrackProxyOptions {
  /** The key of the project, secret or public: it stays on the server. */
  readonly apiKey: string;
  /** Address of the service. */
  readonly baseUrl: string;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** How many event ids are remembered, so that a repeated event is not sent again. */
const REMEMBERED = 10_000;

/**
 * Makes a handler for a route of your own, in any server that speaks `Request` and `Response`:
 * no preflight, no host that a blocker knows, no key in the page. Point a tracker without
 * `publicKey` at it. One event goes to the service once, however often the page sends it. Each
 * proxy keeps one rate budget; where it is used up, the page gets a 429 and waits.
 *
 * @example
 * // Serves POST /collect/v1/track for `createTracker({ proxy: true, baseUrl: '/collect' })`.
 * export const POST = createTrackProxy({ apiKey, baseUrl });
 */
export function createTrackProxy(
  options: TrackProxyOptions,
): (request: Request) => Promise<Response> {
  const budget = new Budget();
  const known = new Map<unknown, Promise<Answer>>();

  const send = async (body: string, id: unknown): Promise<Answer> => {
    const answer = await forward(body, options).finally(() => budget.answered());
    if (answer.status === 429) {
      budget.close(answer.retryAfter);
    }
    // What the service did not take may come again.
    if (answer.status > 299) {
      known.delete(id);
    }
    return answer;
  };

  return async (request) => {
    // Another site can send this type only after a preflight, which is never granted here.
    const isJson = request.headers.get('Content-Type')?.startsWith('application/json');
    if (request.method !== 'POST' || !isJson) {
      return respond({ status: 415 });
    }
    const event: unknown = await request.json().catch(() => undefined);
    if (!event || typeof event !== 'object') {
      return respond({ status: 400 });
    }
    const { id, ...body } = event as { readonly id?: unknown };
    const sent = known.get(id);
    if (sent) {
      return respond(await sent);
    }
    const waitMs = budget.take();
    if (waitMs) {
      return respond({ status: 429, retryAfter: String(Math.ceil(waitMs / 1000)) });
    }
    const sending = send(JSON.stringify(body), id);
    if (id) {
      known.set(id, sending);
    }
    // A Map keeps the order of insertion: the first key is the oldest.
    if (known.size > REMEMBERED) {
      known.delete(known.keys().next().value);
    }
    return respond(await sending);
  };
}

interface Answer {
  readonly status: number;
  readonly text?: string;
  readonly retryAfter?: string | null;
}

/** Sends one event; without an answer it is a 502, which the page tries again. */
async function forward(
  body: string,
  { apiKey, baseUrl, fetch: send = fetch }: TrackProxyOptions,
): Promise<Required<Answer>> {
  const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer ' + apiKey };
  try {
    const response = await send(baseUrl + '/v1/track', { method: 'POST', headers, body });
    const retryAfter = response.headers.get('Retry-After');
    return { status: response.status, text: await response.text(), retryAfter };
  } catch {
    return { status: 502, text: '', retryAfter: null };
  }
}

function respond({ status, text = '', retryAfter }: Answer): Response {
  const headers = new Headers({ 'Content-Type': 'application/json' });
  if (retryAfter) {
    headers.set('Retry-After', retryAfter);
  }
  return new Response(status === 204 ? null : text, { status, headers });
}
