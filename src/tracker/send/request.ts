import type { Answer } from '../queue/answers.js';
import type { EventRecord } from '../queue/record.js';
import { type Entry, Life } from '../queue/state.js';
import type { Tab } from '../tab.js';
import { sleep } from '../wait.js';

/** Longest time for one request. */
const MAX_REQUEST = 6e4;

/** Sends events in one request; returns what came back for each. */
export const request = async (tab: Tab, batch: readonly Entry[]) => {
  const controller = new AbortController();
  const bodies = batch.map((entry) => {
    entry.exchange = controller;
    return bodyOf(tab, entry.record);
  });
  let status = -1;
  let retryAfter: string | null;
  let reply: Reply | undefined;
  const exchange = async () => {
    try {
      // Only these two headers: any other would need the service's consent.
      const response = await (tab.fetch ?? fetch)(tab.baseUrl + '/v1/track', {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          ...(tab.publicKey && { Authorization: 'Bearer ' + tab.publicKey }),
        },
        body: bodies[1] ? `[${bodies.join()}]` : bodies.join(),
        keepalive: isKeptAlive(tab),
        // A page to log in would answer 200 to anything.
        redirect: 'manual',
        signal: controller.signal,
      });
      retryAfter = response.headers.get('Retry-After');
      if (response.ok) {
        reply = (await response.json()) as Reply;
        // Others than the service answer `ok` as well: portals, proxies, a page for offline times.
        status = reply.success === true ? 200 : 0;
      } else {
        status = response.status || 302;
      }
    } catch {
      // As a killed browser does, window.close() ends requests before the page learns of its own
      // end: what its pages noted then would be sent again.
      await sleep(500);
      if (!globalThis.closed) {
        status = 0;
      }
    }
  };
  // Not left to the signal: WebKit forgets requests that were open when their page went into the
  // back/forward cache, and they do not heed it.
  let timer: ReturnType<typeof setTimeout> | undefined;
  await new Promise((resolve) => {
    timer = setTimeout(resolve, MAX_REQUEST);
    void exchange().then(resolve);
  });
  clearTimeout(timer);
  controller.abort();
  return (index: number): Answer => ({ status: reply?.results?.[index] ?? status, retryAfter });
};

/**
 * A request in flight outlives the page where the browser has room for it. Other scripts may have
 * used up that room, which looks like a lost answer: in a living page the next try goes without.
 */
const isKeptAlive = ({ room, life, unanswered }: Tab): boolean =>
  room >= 0 && (life === Life.Left || !unanswered);

/** What the service answers, and a proxy of ours to several events: the status of each. */
interface Reply {
  readonly success?: unknown;
  readonly results?: readonly number[];
}

/** The body of one event. */
export const bodyOf = ({ publicKey }: Tab, { id, event, data, email }: EventRecord): string =>
  JSON.stringify({
    email,
    event,
    data,
    // A proxy of ours tells repeats apart by the id; the service has no such field.
    id: publicKey ? undefined : id,
  });
