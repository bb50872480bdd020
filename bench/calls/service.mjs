// The service in a separate process: one contact, or a page of a hundred.
import { createServer } from 'node:http';

const contact = (index) => ({
  id: `con_${index}`,
  email: `person-${index}@example.com`,
  subscribed: true,
  data: { plan: 'pro', seats: index },
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
});
const record = Buffer.from(JSON.stringify({ success: true, data: contact(1) }));
const data = Array.from({ length: 100 }, (_, index) => contact(index));
const page = Buffer.from(JSON.stringify({ data, hasMore: true, cursor: 'con_99', total: 1000 }));

const server = createServer((request, response) => {
  const body = request.url.includes('limit=100') ? page : record;
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', body.length);
  response.end(body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
