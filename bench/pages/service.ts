import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// The service in a separate process: pages of 100 contacts, each after a fixed time.
const [, , count = '4000', delayMs = '5'] = process.argv;

const server = createServer((request, response) => {
  const cameAt = performance.now();
  const url = new URL(request.url ?? '/', 'http://localhost');
  const size = Number(url.searchParams.get('limit') ?? 20);
  const offset = Number(url.searchParams.get('cursor') ?? 0);
  const data = Array.from({ length: Math.min(size, Number(count) - offset) }, (_, index) => ({
    id: `con_${offset + index}`,
    email: `person-${offset + index}@example.com`,
    subscribed: true,
    data: { plan: 'pro' },
  }));
  const hasMore = offset + size < Number(count);
  const body = JSON.stringify({ data, hasMore, cursor: hasMore ? String(offset + size) : null });
  const answer = () => {
    if (performance.now() - cameAt < Number(delayMs)) {
      setImmediate(answer); // a timer alone is late by up to a millisecond
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(body);
  };
  setTimeout(answer, Number(delayMs) - 1.5);
});
server.listen(0, '127.0.0.1', () => {
  console.log((server.address() as AddressInfo).port);
});
