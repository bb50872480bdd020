import { MediaClient, MessagingClient, type MediaOptions, type MessagingOptions } from 'postreel';

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** A messaging client whose requests go to a function. */
export function messagingOver(fetch: Fetch, options: MessagingOptions = {}): MessagingClient {
  return new MessagingClient({
    apiKey: 'sk_test_key',
    baseUrl: 'https://messaging.test',
    rateLimit: false,
    fetch,
    ...options,
  });
}

/** A media client whose requests go to a function. */
export function mediaOver(fetch: Fetch, options: MediaOptions = {}): MediaClient {
  return new MediaClient({
    apiKey: 'media_test_key',
    baseUrl: 'https://media.test',
    rateLimit: false,
    fetch,
    ...options,
  });
}

/** A function in the place of `fetch` that answers each request with JSON, and keeps them. */
export function answering(answer: (request: Request) => unknown) {
  const requests: Request[] = [];
  const fetch: Fetch = async (input, init) => {
    const request = new Request(input, init);
    requests.push(request.clone());
    const result = await answer(request);
    return result instanceof Response ? result : Response.json(result);
  };
  return { fetch, requests };
}
