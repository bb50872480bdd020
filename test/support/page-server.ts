import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A service in a separate process: a consumer that blocks this process does not stop it. */
export interface PageServer {
  readonly url: string;
  stop(): void;
}

// Pages of two contacts, five of them; each contact says when the request for it arrived.
const script = `
  const server = require('node:http').createServer((request, response) => {
    const cursor = Number(new URL(request.url, 'http://x').searchParams.get('cursor') ?? 0);
    const contact = { email: 'ann@example.com', data: { arrivedAt: Date.now() } };
    const data = [0, 1].map((index) => ({ id: 'con_' + (cursor * 2 + index), ...contact }));
    const hasMore = cursor < 4;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ data, hasMore, cursor: hasMore ? String(cursor + 1) : null }));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

export async function startPageServer(): Promise<PageServer> {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: `http://127.0.0.1:${Number(line.toString())}`,
    stop: () => void child.kill(),
  };
}
