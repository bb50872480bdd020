import type { Answer, Budget, EventRecord } from './queue.js';

/** Longest time for one request. */
const MAX_REQUEST_MS = 60_000;
/** A failure is believed after this. */
const BELIEVED_AFTER_MS = 500;
/** Browsers allow 65 536 bytes of keepalive requests in flight; a little stays for other scripts. */
const MAX_KEPT_ALIVE_BYTES = 64_000;

/** Where requests go, and with which key. */
export interface Target {
  readonly baseUrl: string;
  /** Absent for a proxy, which keeps the key and wants the id of each event. */
  readonly publicKey?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/** One request with one or more events. */
export interface TrackerExchange {
  readonly records: readonly EventRecord[];
  readonly isKeptAlive: boolean;
  readonly signal: AbortSignal;
}

/**
 * Sends events; resolves to what came back for each of them, after a minute at the latest. Not left to the
 * signal: WebKit forgets requests that were open when their page went into the back/forward cache.
 */
export async function request(
  target: Target,
  exchange: TrackerExchange,
): Promise<(index: number) => Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const nothing = new Promise<Reply>((resolve) => {
    timer = setTimeout(() => resolve({ status: -1 }), MAX_REQUEST_MS);
  });
  const { status, results, retryAfter } = await Promise.race([nothing, send(target, exchange)]);
  clearTimeout(timer);
  return (index) => ({ status: results?.[index] ?? status, retryAfter });
}

/** What came back of one request; `results` are a proxy's, one status for each event. */
interface Reply extends Answer {
  readonly results?: readonly number[] | undefined;
}

async function send(
  target: Target,
  { records, isKeptAlive, signal }: TrackerExchange,
): Promise<Reply> {
  const bodies = records.map((record) => bodyOf(target, record));
  try {
    // Only these two headers: any other would need the service's consent.
    const response = await (target.fetch ?? fetch)(urlOf(target), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(target.publicKey && { Authorization: `Bearer ${target.publicKey}` }),
      },
      body: bodies.length > 1 ? `[${bodies.join()}]` : bodies.join(),
      keepalive: isKeptAlive,
      // A page to log in would answer 200 to anything.
      redirect: 'manual',
      signal,
    });
    const retryAfter = response.headers.get('Retry-After');
    if (!response.ok) {
      // A redirect that is not followed has the status 0.
      return { status: response.status || 302, retryAfter };
    }
    // Others than the service answer `ok` as well: portals, proxies, a page for offline times.
    const reply = Object(await response.json()) as { success?: unknown; results?: number[] }; // as: another reply is no success
    return { status: reply.success === true ? 200 : 0, results: reply.results };
  } catch {
    // A browser that is killed, and a window that closes itself, end requests before the page: what the
    // page noted then would be sent again.
    await new Promise((resolve) => setTimeout(resolve, BELIEVED_AFTER_MS));
    return { status: globalThis.closed ? -1 : 0 };
  }
}

/** The address that events are sent to. */
export const urlOf = ({ baseUrl }: Target): string => `${baseUrl}/v1/track`;

/** How many bytes an event needs. */
export const bytesOf = (target: Target, record: EventRecord): number =>
  // One for the comma between two.
  new TextEncoder().encode(bodyOf(target, record)).length + 1;

const bodyOf = ({ publicKey }: Target, { id, event, data, email }: EventRecord): string =>
  JSON.stringify({
    email,
    event,
    data,
    // A proxy of ours tells repeats apart by the id; the service has no such field.
    id: publicKey ? undefined : id,
  });

/** One for all trackers of the page, whatever copy of this module they come from. */
export const budgetOfPage = (): Budget => {
  const shared = globalThis as { [KEPT_ALIVE]?: number }; // as: ours, by its symbol
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
 * The open requests that disposed trackers have left to the page, by the ids of their events, whatever
 * copy of this module the trackers come from. A promise is fulfilled once the answer has been handled.
 */
export const openRequestsOfPage = (): Map<string, Promise<void>> => {
  const shared = globalThis as { [OPEN]?: Map<string, Promise<void>> }; // as: ours, by its symbol
  const open = shared[OPEN] ?? new Map<string, Promise<void>>();
  shared[OPEN] = open;
  return open;
};

const OPEN = Symbol.for('postreel.tracker.open-requests');
const KEPT_ALIVE = Symbol.for('postreel.tracker.bytes-kept-alive');
