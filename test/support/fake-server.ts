import { MediaClient, MessagingClient, type MediaOptions, type MessagingOptions } from 'postreel';
import { startFakeServer, type FakeServer, type FakeServerOptions } from 'postreel/testing';
import { afterEach } from 'vitest';

const open: FakeServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** A fake server on real sockets, closed after the test, with clients that talk to it. */
export async function serve(options: FakeServerOptions = {}) {
  const server = await startFakeServer(options);
  open.push(server);
  const { messaging: fake, media: fakeMedia } = server;
  return {
    server,
    fake,
    fakeMedia,
    messaging: (more: MessagingOptions = {}) =>
      new MessagingClient({
        apiKey: fake.secretKey,
        baseUrl: server.messagingUrl,
        ...more,
      }),
    media: (more: MediaOptions = {}) =>
      new MediaClient({
        apiKey: fakeMedia.apiKey,
        baseUrl: server.mediaUrl,
        ...more,
      }),
  };
}

/** How many requests of an endpoint arrived. */
export function arrivals(requests: readonly { endpoint: string | undefined }[], endpoint: string) {
  return requests.filter((request) => request.endpoint === endpoint).length;
}
