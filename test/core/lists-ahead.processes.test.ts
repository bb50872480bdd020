import { setTimeout as sleep } from 'node:timers/promises';
import { MessagingClient } from 'postreel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPageServer, type PageServer } from '../support/page-server.js';

// Far more than a request takes to arrive, also on a busy machine.
const workMs = 300;
let server: PageServer;
beforeAll(async () => {
  server = await startPageServer();
});
afterAll(() => server.stop());

describe('while a consumer works on a page, the request for the next one', () => {
  it.each<[string, () => void | Promise<void>]>([
    ['blocks the process', block],
    ['awaits something', () => sleep(workMs)],
  ])('has arrived if the consumer %s', async (_, work) => {
    const client = new MessagingClient({ apiKey: 'sk_ahead', baseUrl: server.url });
    const arrivals: number[] = [];
    const ends: number[] = [];
    let count = 0;
    for await (const { data } of client.contacts.list({ limit: 2 })) {
      if (count % 2 === 0) {
        arrivals.push((data as { arrivedAt: number }).arrivedAt);
        await work();
        ends.push(Date.now());
      }
      count++;
    }
    expect(arrivals).toHaveLength(5);
    for (const [index, end] of ends.slice(0, -1).entries()) {
      expect(arrivals[index + 1], `page ${index + 1}`).toBeLessThan(end);
    }
  });
});

function block(): void {
  const end = performance.now() + workMs;
  while (performance.now() < end) {
    // as busy as a parser
  }
}
