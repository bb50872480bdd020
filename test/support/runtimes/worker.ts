import { MediaClient, MessagingClient } from 'postreel';

/** The settings in the query of a request. */
interface Wish {
  readonly service: 'messaging' | 'media';
  readonly clients: 'one' | 'one for each request';
  readonly origin: string;
}

const shared = new Map<string, MessagingClient | MediaClient>();

function messagingAt(origin: string): MessagingClient {
  const rateLimit = { limit: 5, windowMs: 300, group: `worker ${origin}` };
  return new MessagingClient({ apiKey: 'sk_worker', baseUrl: origin, rateLimit });
}

function mediaAt(origin: string): MediaClient {
  return new MediaClient({ apiKey: 'worker', baseUrl: origin });
}

function clientFor<T extends MessagingClient | MediaClient>(wish: Wish, create: () => T): T {
  if (wish.clients !== 'one') {
    return create();
  }
  const known = (shared.get(wish.service) ?? create()) as T; // one service, one class
  shared.set(wish.service, known);
  return known;
}

export default {
  async fetch(request: Request): Promise<Response> {
    const wish = Object.fromEntries(new URL(request.url).searchParams) as unknown as Wish; // our own test asks
    if (wish.service === 'media') {
      const media = clientFor(wish, () => mediaAt(wish.origin));
      const file = await media.waitForFile('file_1', { interval: 50 });
      return Response.json({ id: file.fileId });
    }
    const messaging = clientFor(wish, () => messagingAt(wish.origin));
    const { id } = await messaging.contacts.get('con_1');
    return Response.json({ id });
  },
};
