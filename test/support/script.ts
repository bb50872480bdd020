import type { MessagingOptions, RetryEvent } from 'postreel';
import { answering, messagingOver } from './clients.js';

/** How a stub of the service takes one request. */
export type Step = () => Response | Promise<Response>;

/** Ways in which a request can end. */
export const step = {
  ok: (body: unknown = { id: 'con_1' }) => Response.json(body),
  status:
    (status: number, headers: Record<string, string> = {}): Step =>
    () =>
      Response.json({ error: 'no' }, { status, headers }),
  /** The connection was refused: nothing left. */
  refused: () => Promise.reject(fault('ECONNREFUSED')),
  /** The connection broke when the request had left. */
  lost: () => Promise.reject(fault('ECONNRESET')),
  /** No answer ever comes. */
  silence: () => new Promise<Response>(() => undefined),
};

/** A client over a service that takes its requests as a list of steps says, and then says yes. */
export function scripted(steps: readonly Step[], options: MessagingOptions = {}) {
  const left = [...steps];
  const { fetch, requests } = answering(() => (left.shift() ?? step.ok)());
  const client = messagingOver(fetch, {
    // Schemas are loaded from the disk, and the disk does not know about fake timers.
    validation: { requests: 'off', responses: 'off' },
    ...options,
  });
  const retries: RetryEvent[] = [];
  client.on('retry', (event) => retries.push(event));
  return { client, requests, retries };
}

function fault(code: string): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
}
