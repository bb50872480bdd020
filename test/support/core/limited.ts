import type { MessagingOptions } from 'postreel';
import { vi } from 'vitest';
import { scripted, step, type Step } from '../script.js';

let projects = 0;

/** A key that no other test has used: budgets are kept by it. */
export function freshKey(): string {
  return `sk_project_${++projects}`;
}

/** A client of a separate project with two requests per second, over a scripted service. */
export function limited(changes: MessagingOptions = {}, steps: readonly Step[] = []) {
  const options = {
    apiKey: freshKey(),
    rateLimit: { limit: 2, windowMs: 1_000 },
    ...changes,
  } satisfies MessagingOptions;
  const { client, requests } = scripted(steps, options);
  return {
    client,
    requests,
    options,
    /** Calls the service so many times; errors are those of the calls. */
    calls: (count: number) => Array.from({ length: count }, (_, id) => get(client, `con_${id}`)),
    /** The requests in the order of their arrival. */
    ids: () => requests.map(({ url }) => new URL(url).pathname.split('/').at(-1)),
  };
}

/** The same step, but its answer takes so long. */
export function slowly(delayMs: number, one: Step = step.ok): Step {
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    return one();
  };
}

/** A 429 that asks to wait for so many seconds. */
export function tooMany(seconds: number): Step {
  return step.status(429, { 'retry-after': String(seconds) });
}

/** Time passes on the test's clock. */
export const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms);

function get(client: ReturnType<typeof scripted>['client'], id: string) {
  const call = client.contacts.get(id);
  call.catch(() => undefined); // looked at by those who want to
  return call;
}
