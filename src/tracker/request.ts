import type { EventAnswer, KeepaliveBudget, EventRecord } from './queue.js';

/** The time limit of one request. */
const MAX_REQUEST_MS = 60_000;
/** A failed request is reported after this delay. */
const BELIEVED_AFTER_MS = 500;
/** Browsers allow 65 536 bytes of keepalive requests in flight; the rest is left to other scripts. */
const MAX_KEPT_ALIVE_BYTES = 64_000;

/** The address of requests, and their key. */
export interface TrackEndpoint {
  readonly baseUrl: string;
  /** Absent for a proxy, which has the key and needs the id of each event. */
  readonly publicKey?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/** One request with one or more events. */
export interface TrackRequestOptions {
  readonly records: readonly EventRecord[];
  readonly isKeptAlive: boolean;
  readonly signal: AbortSignal;
}

/**
 * Sends events; resolves to the response to each of them, after 60 s at the latest. The timer does not rely
 * on the abort signal: WebKit forgets requests that were open when their page went into the back/forward
 * cache.
 */
export async function sendEvents(
  endpoint: TrackEndpoint,
  options: TrackRequestOptions,
): Promise<(index: number) => EventAnswer> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<Reply>((resolve) => {
    timer = setTimeout(() => resolve({ status: -1 }), MAX_REQUEST_MS);
  });
  const { status, results, retryAfter } = await Promise.race([
    timeout,
    sendRequest(endpoint, options),
  ]);
  clearTimeout(timer);
  return (index) => ({ status: results?.[index] ?? status, retryAfter });
}

/** The response to one request; `results` come from a proxy: one status per event. */
interface Reply extends EventAnswer {
  readonly results?: readonly number[] | undefined;
}

async function sendRequest(
  endpoint: TrackEndpoint,
  { records, isKeptAlive, signal }: TrackRequestOptions,
): Promise<Reply> {
  const bodies = records.map((record) => bodyOf(endpoint, record));
  try {
    // Send only these two headers: the service would have to allow any other one by CORS.
    const response = await (endpoint.fetch ?? fetch)(urlOf(endpoint), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(endpoint.publicKey && { Authorization: `Bearer ${endpoint.publicKey}` }),
      },
      body: bodies.length > 1 ? `[${bodies.join()}]` : bodies.join(),
      keepalive: isKeptAlive,
      // Do not follow redirects: a login page would return 200 for any request.
      redirect: 'manual',
      signal,
    });
    const retryAfter = response.headers.get('Retry-After');
    if (!response.ok) {
      // The response to a redirect that is not followed has the status 0.
      return { status: response.status || 302, retryAfter };
    }
    // Captive portals, proxies and offline pages also return 2xx: check the body.
    const reply = Object(await response.json()) as { success?: unknown; results?: number[] }; // as: a different body does not count as a success
    return { status: reply.success === true ? 200 : 0, results: reply.results };
  } catch {
    // A browser that is killed, or a window that closes itself, ends requests before the page. If the page
    // stored that failure, a later page would send the event again. So wait first.
    await new Promise((resolve) => setTimeout(resolve, BELIEVED_AFTER_MS));
    return { status: globalThis.closed ? -1 : 0 };
  }
}

/** The address that events are sent to. */
export const urlOf = ({ baseUrl }: TrackEndpoint): string => `${baseUrl}/v1/track`;

/** The size of an event in the request body, in bytes. */
export const bytesOf = (endpoint: TrackEndpoint, record: EventRecord): number =>
  // One more byte for the comma between two events.
  new TextEncoder().encode(bodyOf(endpoint, record)).length + 1;

const bodyOf = ({ publicKey }: TrackEndpoint, { id, event, data, email }: EventRecord): string =>
  JSON.stringify({
    email,
    event,
    data,
    // Postreel's proxy handler detects repeats by the id; the service has no such field.
    id: publicKey ? undefined : id,
  });

/** The keepalive budget, shared by all trackers of the page, even across copies of this module. */
export const budgetOfPage = (): KeepaliveBudget => {
  const shared = globalThis as { [KEPT_ALIVE]?: number }; // as: only this module writes under its symbol
  return {
    take: (bytes) => {
      const taken = (shared[KEPT_ALIVE] ?? 0) + bytes;
      if (taken > MAX_KEPT_ALIVE_BYTES) {
        return false;
      }
      shared[KEPT_ALIVE] = taken;
      return true;
    },
    giveBack: (bytes) => {
      shared[KEPT_ALIVE] = Math.max(0, (shared[KEPT_ALIVE] ?? 0) - bytes);
    },
  };
};

/**
 * The requests in flight that disposed trackers have left to the page, by event id, shared across copies of
 * this module. Each promise is fulfilled once the response has been handled.
 */
export const openRequestsOfPage = (): Map<string, Promise<void>> => {
  const shared = globalThis as { [OPEN]?: Map<string, Promise<void>> }; // as: only this module writes under its symbol
  const open = shared[OPEN] ?? new Map<string, Promise<void>>();
  shared[OPEN] = open;
  return open;
};

const OPEN = Symbol.for('postreel.tracker.open-requests');
const KEPT_ALIVE = Symbol.for('postreel.tracker.bytes-kept-alive');
