import { vi } from 'vitest';
import { type TrackerOptions, createTracker } from '../../../src/tracker/index.js';

/** One request of the tracker under test. */
export interface Sent {
  readonly url: string;
  readonly init: RequestInit;
  readonly body: { email?: string; event: string; data?: Record<string, unknown>; id?: string };
}

/** Just enough of a page for the logic that needs no real browser: a quick one of its own. */
export function fakePage(globals: Record<string, unknown> = {}) {
  const events = new EventTarget();
  const storage: Record<string, string> = {};
  vi.useFakeTimers({ now: new Date('2026-11-21T10:00:00Z') });
  vi.stubGlobal('document', {});
  vi.stubGlobal('localStorage', storage);
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('addEventListener', events.addEventListener.bind(events));
  vi.stubGlobal('removeEventListener', events.removeEventListener.bind(events));
  for (const [name, value] of Object.entries(globals)) {
    vi.stubGlobal(name, value);
  }
  const sent: Sent[] = [];
  const page = {
    sent,
    storage,
    events,
    /** What the service answers. */
    reply: (): Response | Promise<Response> => new Response('{}'),
    start: (options: Partial<TrackerOptions> = {}) =>
      createTracker({
        publicKey: 'pk_test',
        baseUrl: 'https://service.test',
        email: 'ann@example.com',
        fetch: async (url, init) => {
          // The tracker sends bytes to a text address.
          const body = JSON.parse(
            new TextDecoder().decode(init!.body as Uint8Array),
          ) as Sent['body'];
          sent.push({ url: url as string, init: init!, body });
          return page.reply();
        },
        ...options,
      }),
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    close: () => {
      vi.unstubAllGlobals();
      vi.useRealTimers();
    },
  };
  return page;
}
