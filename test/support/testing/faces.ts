import { setupServer } from 'msw/node';
import {
  createFakeMedia,
  createFakeMessaging,
  startFakeServer,
  type FakeMedia,
  type FakeMessaging,
} from 'postreel/testing';

/** The fakes, and the `fetch` that reaches them through one of the faces. */
export interface Face {
  readonly messaging: FakeMessaging;
  readonly media: FakeMedia;
  readonly fetch: typeof fetch;
  stop(): Promise<void> | void;
}

/** The three ways to reach a fake, by name. */
export const faces: Record<string, () => Face | Promise<Face>> = {
  'fake.fetch': () => {
    const messaging = createFakeMessaging();
    const media = createFakeMedia({ durations: () => 0 });
    const face: typeof fetch = (input, init) => {
      const { origin } = new URL(new Request(input).url);
      return origin === messaging.baseUrl ? messaging.fetch(input, init) : media.fetch(input, init);
    };
    return { messaging, media, fetch: face, stop: () => undefined };
  },
  MSW: async () => {
    const messaging = createFakeMessaging({ baseUrl: 'https://mail.example.com:8443/api' });
    const media = createFakeMedia({ durations: () => 0 });
    const server = setupServer(...(await messaging.handlers()), ...(await media.handlers()));
    server.listen({ onUnhandledRequest: 'error' });
    return { messaging, media, fetch: globalThis.fetch, stop: () => server.close() };
  },
  'a real server': async () => {
    const server = await startFakeServer({ media: { durations: () => 0 } });
    const { messaging, media } = server;
    return { messaging, media, fetch: globalThis.fetch, stop: () => server.close() };
  },
};

/** A request for a new contact. */
export function newContact(fake: FakeMessaging, email = 'ann@example.com'): RequestInit {
  return {
    method: 'POST',
    headers: {
      authorization: `Bearer ${fake.secretKey}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ email }),
  };
}
