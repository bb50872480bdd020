import type { Answer } from '../queue/answers.js';
import type { EventRecord } from '../queue/record.js';
import type { Entry } from '../queue/state.js';
import type { Tab } from '../tab.js';
import { sleep } from './wait.js';

/** Sends events in one request, and says what came of each. */
export const request = async (tab: Tab, batch: readonly Entry[]) => {
  const controller = new AbortController();
  // No answer, unless one comes.
  let status = 0;
  const timer = setTimeout(() => {
    status = -1;
    controller.abort();
  }, 6e4);
  const bodies = batch.map((entry) => {
    entry.abort = () => controller.abort();
    return bodyOf(tab, entry.record);
  });
  let retryAfter: string | null;
  let results: readonly number[] | undefined;
  try {
    // Only these two headers: any other would need the service's consent.
    const response = await (tab.fetch ?? fetch)(tab.baseUrl + '/v1/track', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(tab.publicKey && { Authorization: 'Bearer ' + tab.publicKey }),
      },
      body: bodies[1] ? `[${bodies.join()}]` : bodies.join(),
      keepalive: tab.room >= 0,
      // A page to log in would answer 200 to anything.
      redirect: 'manual',
      signal: controller.signal,
    });
    retryAfter = response.headers.get('Retry-After');
    if (!response.ok) {
      status = response.status || 302;
    } else {
      const answer = (await response.json()) as Reply;
      results = answer.results;
      // Others than the service say `ok` as well: portals, proxies, a page for offline times.
      if (answer.success === true) {
        status = 200;
      }
    }
  } catch {
    // Nothing readable came. window.close() ends requests before the page hears of its own end.
    if (globalThis.closed) {
      status = -1;
    }
    // As does a killed browser: what its pages noted then would be sent again.
    await sleep(500);
  }
  clearTimeout(timer);
  return (index: number): Answer => ({ status: results?.[index] ?? status, retryAfter });
};

/** What the service says, and a proxy of ours to several events: the status of each. */
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
