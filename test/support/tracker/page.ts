import { vi } from 'vitest';
import { type TrackerOptions, createTracker } from 'postreel/tracker';

/** One request of the tracker under test. */
export interface Sent {
  readonly url: string;
  readonly init: RequestInit;
  readonly body: { email?: string; event: string; data?: Record<string, unknown>; id?: string };
}

/** The service's response to an event that it took. */
export const acceptedResponse = (): Response => new Response('{"success":true}');

/** A minimal page for logic that needs no real browser. */
export function fakePage(globals: Record<string, unknown> = {}) {
  const events = new EventTarget();
  const storage = fakeStorage();
  vi.useFakeTimers({ now: new Date('2026-11-21T10:00:00Z') });
  vi.stubGlobal('document', new EventTarget());
  vi.stubGlobal('closed', false);
  vi.stubGlobal('localStorage', storage);
  vi.stubGlobal('BroadcastChannel', fakeChannels());
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
    /** The service's response to the next request. */
    reply: (): Response | Promise<Response> => acceptedResponse(),
    start: (options: Partial<TrackerOptions> = {}) =>
      createTracker({
        publicKey: 'pk_test',
        namespace: 'test',
        baseUrl: 'https://service.test',
        email: 'ann@example.com',
        fetch: async (url, init) => {
          // as: the tracker sends text to a text address
          const body = JSON.parse(init!.body as string) as Sent['body'];
          sent.push({ url: url as string, init: init!, body });
          const { signal } = init!;
          const aborted = new Promise<never>((_, reject) =>
            signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError'))),
          );
          return Promise.race([page.reply(), aborted]);
        },
        ...options,
      }),
    pass: async (ms: number) => {
      // Modules load in real time, which the fake clock does not advance.
      await vi.dynamicImportSettled();
      await vi.advanceTimersByTimeAsync(ms);
      await vi.dynamicImportSettled();
      await vi.advanceTimersByTimeAsync(0);
    },
    close: async () => {
      await vi.dynamicImportSettled();
      vi.unstubAllGlobals();
      vi.restoreAllMocks();
      vi.useRealTimers();
    },
  };
  return page;
}

/** A localStorage whose properties are the stored entries, as in a browser. */
export function fakeStorage(): Record<string, string> {
  const methods = {
    getItem(key: string) {
      return Object.hasOwn(this, key) ? (Reflect.get(this, key) as unknown) : null;
    },
    setItem(key: string, value: string) {
      Reflect.set(this, key, value);
    },
    removeItem(key: string) {
      Reflect.deleteProperty(this, key);
    },
  };
  return Object.create(methods) as Record<string, string>;
}

/**
 * Channels between the tabs of one page: they deliver at once, in order, and not to closed
 * channels.
 */
function fakeChannels() {
  const open = new Set<FakeChannel>();
  class FakeChannel {
    onmessage?: (event: { data: unknown }) => void;
    constructor(readonly name: string) {
      open.add(this);
    }
    postMessage(data: unknown): void {
      const others = [...open].filter((other) => other !== this && other.name === this.name);
      const copy = structuredClone(data);
      others.forEach((other) =>
        queueMicrotask(() => open.has(other) && other.onmessage?.({ data: copy })),
      );
    }
    close(): void {
      open.delete(this);
    }
  }
  return FakeChannel;
}
