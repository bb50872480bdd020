import type { ProxiedEvent } from './options.js';

/** What browsers carry at the end of a page, and no more. */
const MOST_BYTES = 65_536;
/** What a tracker hands over in one request. */
const MOST_EVENTS = 20;

/** An event and the id by which the page tells repeats apart. */
export interface Incoming {
  readonly id: string | undefined;
  readonly event: ProxiedEvent;
}

/** What a request holds; a number is the status that refuses it. */
export async function readEvents(
  request: Request,
): Promise<{ readonly items: (Incoming | undefined)[]; readonly isList: boolean } | number> {
  const text = await readText(request);
  if (text === undefined) {
    return 413;
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return 400;
  }
  const isList = Array.isArray(body);
  const items: unknown[] = isList ? (body as unknown[]) : [body];
  return items.length > MOST_EVENTS ? 413 : { items: items.map(eventOf), isList };
}

/** True unless a browser says that a page of another origin asks. */
export function isSameOrigin({ headers, url }: Request): boolean {
  const site = headers.get('Sec-Fetch-Site');
  if (site !== null) {
    return site === 'same-origin';
  }
  const origin = headers.get('Origin');
  // What stands before a server may have changed the scheme, but hands on the host.
  const host = headers.get('Host') ?? new URL(url).host;
  return origin === null || origin.replace(/^https?:\/\//, '') === host;
}

/** Only these fields go on: another one could mean something under a secret key. */
function eventOf(value: unknown): Incoming | undefined {
  if (!isObject(value)) {
    return undefined;
  }
  const { id, event, email, data } = value;
  const isEvent =
    typeof event === 'string' &&
    event !== '' &&
    (email === undefined || typeof email === 'string') &&
    (data === undefined || isObject(data));
  return isEvent
    ? {
        id: typeof id === 'string' ? id : undefined,
        event: { event, email, data },
      }
    : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The body as text; undefined where it is too large, whatever its headers say. */
async function readText(request: Request): Promise<string | undefined> {
  const reader = request.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (;;) {
    const part = await reader?.read();
    if (!part || part.done) {
      return text + decoder.decode();
    }
    size += part.value.length;
    if (size > MOST_BYTES) {
      void reader?.cancel().catch(() => undefined);
      return undefined;
    }
    text += decoder.decode(part.value, { stream: true });
  }
}
