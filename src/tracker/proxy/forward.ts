import type { ProxiedEvent, TrackProxyOptions } from './options.js';

/** What the page is told: a status, and how many seconds to wait. */
export interface Answer {
  readonly status: number;
  readonly retryAfter?: string | undefined;
}

/** Sends one event on to the service. What the service says in words stays here. */
export async function forward(
  event: ProxiedEvent,
  { apiKey, baseUrl, fetch: send = fetch }: TrackProxyOptions,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const response = await send(baseUrl.replace(/\/+$/, '') + '/v1/track', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: 'Bearer ' + apiKey,
      },
      body: JSON.stringify(event),
      redirect: 'manual',
      signal,
    });
    if (response.status === 429) {
      return {
        status: 429,
        retryAfter: response.headers.get('Retry-After') ?? undefined,
      };
    }
    const isTaken = response.ok && isSuccess(await response.json());
    await response.body?.cancel().catch(() => undefined);
    return { status: isTaken ? 200 : statusFor(response.status) };
  } catch {
    // Nobody knows whether it arrived.
    return { status: signal.aborted ? 504 : 502 };
  }
}

const isSuccess = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'success' in body && body.success === true;

/** What a page should do about an answer: drop the event, or try again later. */
function statusFor(status: number): number {
  // A wrong key, address or redirect is not the page's fault: nothing was taken.
  if ([401, 403, 404].includes(status) || (status >= 300 && status < 400) || status === 503) {
    return 503;
  }
  return status >= 400 && status < 500 && status !== 408 ? 400 : 502;
}
