import type { ProxiedEvent } from './options.js';

/** What browsers carry at the end of a page, and no more. */
const MAX_BYTES = 65_536;
/** What a tracker hands over in one request. */
const MAX_EVENTS = 20;
/** Ids are remembered: those of a tracker are shorter. */
const MAX_ID = 500;

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
  return items.length > MAX_EVENTS ? 413 : { items: items.map(eventOf), isList };
}

/** True for a body of JSON, however the header spells it. */
export function isJson({ headers }: Request): boolean {
  const [type = ''] = (headers.get('Content-Type') ?? '').split(';');
  return type.trim().toLowerCase() === 'application/json';
}

/** True unless a browser says that a page of another origin asks. */
export function isSameOrigin({ headers, url }: Request, origins: readonly string[] = []): boolean {
  const origin = headers.get('Origin');
  if (origin !== null && origins.includes(origin)) {
    return true;
  }
  const site = headers.get('Sec-Fetch-Site');
  if (site !== null) {
    return site === 'same-origin';
  }
  // A front server may have changed the scheme and the host, and then names the one that was asked
  // for. No page of another origin can set these headers without a preflight.
  const forwarded = headers.get('X-Forwarded-Host')?.split(',')[0]?.trim();
  const host = forwarded ?? headers.get('Host') ?? new URL(url).host;
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

/** The body as text; undefined where it is too large, whatever its headers say. */
async function readText(request: Request): Promise<string | undefined> {
  // Some servers hand over a `Request` whose body is no web stream, or none at all.
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
