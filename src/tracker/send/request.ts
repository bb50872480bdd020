import type { Answer } from '../queue/answers.js';
import type { EventRecord } from '../queue/record.js';
import type { Entry } from '../queue/state.js';
import type { Tab } from '../tab.js';

/** Sends one event, and says what came of it. */
export const request = async (tab: Tab, entry: Entry): Promise<Answer> => {
  const controller = new AbortController();
  entry.abort = () => controller.abort();
  // No answer, unless one comes.
  let status = 0;
  const timer = setTimeout(() => {
    status = -1;
    controller.abort();
  }, 6e4);
  let retryAfter;
  try {
    // Only these two headers: any other would need the service's consent.
    const response = await (tab.fetch ?? fetch)(tab.baseUrl + '/v1/track', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(tab.publicKey && { Authorization: 'Bearer ' + tab.publicKey }),
      },
      body: bodyOf(tab, entry.record),
      keepalive: tab.room >= 0,
      // A page to log in would answer 200 to anything.
      redirect: 'manual',
      signal: controller.signal,
    });
    retryAfter = response.headers.get('Retry-After');
    if (!response.ok) {
      status = response.status || 302;
    }
    // Others than the service say `ok` as well: portals, proxies, a page for offline times.
    else if (((await response.json()) as { success?: unknown }).success === true) {
      status = 200;
    }
  } catch {
    // Nothing readable came.
  }
  clearTimeout(timer);
  return { status, retryAfter };
};

/** The body of one event, in bytes: that is how browsers count. */
export const bodyOf = (
  { publicKey }: Tab,
  { id, event, data, email }: EventRecord,
): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(
    JSON.stringify({
      email,
      event,
      data,
      // A proxy of ours tells repeats apart by the id; the service has no such field.
      id: publicKey ? undefined : id,
    }),
  );
