import { createReaction } from './reaction.js';
import { type EventRecord, isExpired } from '../queue/record.js';
import { type Tab, end, forget, mark } from '../tab.js';

/** Sends one event; at the end of the page only if it still fits. */
export type Send = (record: EventRecord, isExit?: boolean) => Promise<void>;

export const createSend = (tab: Tab): Send => {
  const react = createReaction(tab);
  // Browsers allow 64 KiB of keepalive requests in flight, shared by the whole page.
  let room = 6e4;
  return async (record, isExit) => {
    const body = bodyOf(tab, record);
    if (isExit && body.length > room) {
      return;
    }
    // Marked first, so that no later page repeats it. What is marked already is about to be sent.
    const marked = record.state || mark(tab, record, 1);
    if (!isExit && (await marked) === true) {
      forget(tab, record);
    }
    if (isExpired(tab, record)) {
      end(tab, record, 'expired');
    }
    // Meanwhile the page may have ended, or the event may have been erased.
    if (record.state === 2 || !tab.records.includes(record)) {
      return;
    }
    record.state = 2;
    room -= body.length;
    let status: number;
    let retryAfter;
    try {
      // Only these two headers: any other would need the service's consent.
      const answer = await (tab.fetch ?? fetch)(tab.baseUrl + '/v1/track', {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          ...(tab.publicKey && { Authorization: 'Bearer ' + tab.publicKey }),
        },
        body,
        keepalive: room >= 0,
        signal: AbortSignal.timeout(6e4),
      });
      status = answer.status;
      retryAfter = answer.headers.get('Retry-After');
    } catch (error) {
      // 0: no answer. -1: none though it was certainly handed over.
      status = error instanceof TypeError ? 0 : -1;
    }
    room += body.length;
    await react(record, status, String(retryAfter));
  };
};

/** The body of one event, in bytes: that is how browsers count. */
const bodyOf = (
  tab: Tab,
  { id, event, data, email = tab.email }: EventRecord,
): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(
    JSON.stringify({
      email,
      event,
      data,
      // A proxy of ours tells repeats apart by the id; the service has no such field.
      id: tab.publicKey ? undefined : id,
    }),
  );
