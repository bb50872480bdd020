import { retryAfterMs } from '../../core/call/retry-after.js';
import { sendOnce } from '../../core/call/send-once.js';
import { version } from '../../core/version.js';
import type { ProxiedEvent, TrackProxyOptions } from './options.js';

/** The time limit of a request to the service; the page does not wait for it. */
const MAX_EXCHANGE_MS = 60_000;

/** The response to the page: a status, and after a 429 how long to wait. */
export interface ProxyAnswer {
  /** 502 and 504: the service may have taken the event. */
  readonly status: number;
  readonly retryAfterMs?: number | undefined;
}

/** Sends one event to the service. Never rejects, and always ends. */
export async function forward(
  event: ProxiedEvent,
  options: TrackProxyOptions,
): Promise<ProxyAnswer> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  // Use a timer besides the signal: a custom `fetch` may ignore the signal.
  const late = new Promise<ProxyAnswer>((resolve) => {
    timer = setTimeout(() => {
      controller.abort();
      resolve({ status: 504 });
    }, MAX_EXCHANGE_MS);
  });
  const answer = exchange(event, options, controller.signal).catch(() => ({ status: 502 }));
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

async function exchange(
  event: ProxiedEvent,
  { apiKey, baseUrl, fetch }: TrackProxyOptions,
  signal: AbortSignal,
): Promise<ProxyAnswer> {
  const response = await sendOnce(fetch, baseUrl.replace(/\/+$/, '') + '/v1/track', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: 'Bearer ' + apiKey,
      'User-Agent': 'postreel/' + version,
    },
    body: JSON.stringify(event),
    redirect: 'manual',
    signal,
  });
  if (response.ok) {
    return { status: isSuccess(await response.json()) ? 200 : 502 };
  }
  warnOfRedirect(response.status, baseUrl);
  // Do not pass the service's response body to the page.
  response.body?.cancel().catch(() => undefined);
  const status = statusFor(response.status);
  return status === 429
    ? { status, retryAfterMs: retryAfterMs(response.headers, 429) }
    : { status };
}

const warned = new Set<string>();

/** Warns once per address. A redirect is not followed, because the key would be sent along. */
function warnOfRedirect(status: number, baseUrl: string): void {
  const isRedirect = status === 0 || (status >= 300 && status < 400);
  if (isRedirect && !warned.has(baseUrl)) {
    warned.add(baseUrl);
    console.warn(
      `[postreel proxy] ${baseUrl}/v1/track answers with a redirect (${status}), which is not followed: set baseUrl to where it leads.`,
    );
  }
}

const isSuccess = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'success' in body && body.success === true;

/**
 * Converts a status of the service to one that makes the page drop the event, wait, or count it as ambiguous.
 */
function statusFor(status: number): number {
  if (status === 429) {
    return 429;
  }
  // A wrong key, address or redirect is not the page's fault: the service took no event.
  if ([0, 401, 403, 404, 503].includes(status) || (status >= 300 && status < 400)) {
    return 503;
  }
  return status >= 400 && status < 500 && status !== 408 ? 400 : 502;
}
