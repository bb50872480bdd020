import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Messaging from '../../src/messaging/index.js';
import type { Limiter } from './limiters.js';

// The built package, to measure its budget rather than the sources.
const entryPoint = pathToFileURL(resolve('dist/esm/messaging/index.js')).href;
const { MessagingClient } = (await import(entryPoint)) as typeof Messaging; // as: it is built from these sources

// The first call loads modules from the disk, which the virtual clock does not wait for.
const first = new MessagingClient({
  apiKey: 'sk_simulation_first',
  baseUrl: 'https://messaging.test',
  validation: { requests: 'off', responses: 'off' },
  fetch: () => Promise.resolve(Response.json({})),
});
await first.contacts.get('first');

let clients = 0;

/** A client with its defaults; `headroom` leaves a share of the limit to other processes. */
export function ours({ headroom = 0 } = {}): Limiter {
  return ({ limits, service }) => {
    const client = new MessagingClient({
      // Each process has a separate budget, because budgets are shared by API key.
      apiKey: `sk_simulation_${clients++}`,
      baseUrl: 'https://messaging.test',
      rateLimit: { ...limits, headroom },
      validation: { requests: 'off', responses: 'off' },
      fetch: (input) => service.send(callOf(input)),
    });
    return async (call) => {
      await client.contacts.get(String(call));
    };
  };
}

function callOf(input: string | URL | Request): number {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  return Number(pathname.slice(pathname.lastIndexOf('/') + 1));
}
