import type { ProxiedEvent } from './options.js';

/** The limit of browsers for requests at the end of a page, in bytes. */
const MAX_BYTES = 65_536;
/** The maximum number of events that a tracker sends in one request. */
const MAX_EVENTS = 20;
/** The maximum length of an id, because ids are remembered; those of a tracker are shorter. */
const MAX_ID = 500;

/** An event, and the id by which the proxy detects repeats. */
export interface IncomingEvent {
  readonly id: string | undefined;
  readonly event: ProxiedEvent;
}

/** Reads the events of a request; a number is the status that rejects it. */
export async function readEvents(
  request: Request,
): Promise<{ readonly items: (IncomingEvent | undefined)[]; readonly isList: boolean } | number> {
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
  return items.length > MAX_EVENTS ? 413 : { items: items.map(eventOf), isList };
}

/** True for a JSON body, in any spelling of the header. */
export function isJson({ headers }: Request): boolean {
  const [type = ''] = (headers.get('Content-Type') ?? '').split(';');
  return type.trim().toLowerCase() === 'application/json';
}

/** True unless the headers say that a page of another origin sent the request. */
export function isSameOrigin({ headers, url }: Request, origins: readonly string[] = []): boolean {
  const origin = headers.get('Origin');
  if (origin !== null && origins.includes(origin)) {
    return true;
  }
  const site = headers.get('Sec-Fetch-Site');
  if (site !== null) {
    return site === 'same-origin';
  }
  // A front server may have changed the scheme and the host; it then names the original host in these
  // headers. No page of another origin can set them without a preflight.
  const forwarded = headers.get('X-Forwarded-Host')?.split(',')[0]?.trim();
  const host = forwarded ?? headers.get('Host') ?? new URL(url).host;
  return origin === null || origin.replace(/^https?:\/\//, '') === host;
}

/** Pass on only these fields: another one could have an effect together with a secret key. */
function eventOf(value: unknown): IncomingEvent | undefined {
  if (!isObject(value)) {
    return undefined;
  }
  const { id, event, email, data } = value;
  const isEvent =
    typeof event === 'string' &&
    event !== '' &&
    (typeof id !== 'string' || id.length <= MAX_ID) &&
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

/** Reads the body as text; `undefined` if it is too large, whatever its headers say. */
async function readText(request: Request): Promise<string | undefined> {
  // On some servers the body of a `Request` is not a web stream, or is absent.
  if (typeof (request.body as Partial<ReadableStream> | null)?.getReader !== 'function') {
    const text = await request.text();
    return new TextEncoder().encode(text).length > MAX_BYTES ? undefined : text;
  }
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
    if (size > MAX_BYTES) {
      void reader?.cancel().catch(() => undefined);
      return undefined;
    }
    text += decoder.decode(part.value, { stream: true });
  }
}
