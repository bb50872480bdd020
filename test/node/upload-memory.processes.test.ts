import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleScript } from '../support/node/bundled.js';

const files = 20;

// Answers the small file at once; reads the large ones only after all of them have come.
const held: (() => void)[] = [];
const received: number[] = [];
const server = createServer((request, response) => {
  const read = () => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => {
      received.push(bytes);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jobId: 'job_1' }));
    });
  };
  if (Number(request.headers['content-length'] ?? Infinity) < 5_000) {
    read();
    return;
  }
  held.push(read);
  if (held.length === files) {
    // Leaves time for a client that would read ahead.
    setTimeout(() => held.splice(0).forEach((go) => go()), 500);
  }
});

let child: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  child = await bundleScript('test/support/node/upload-child.ts');
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  server.close();
  await child.remove();
});

// The client makes one copy, so that later changes to the caller's bytes do not change the request.
// `fetch` holds another copy while sending, and the check of a file decodes it to text. Measured:
// 2.8.
const maxCopies = 3.5;

it(`imports of 5 MB stream: they hold at most ${maxCopies} times their bytes`, async () => {
  const { port } = server.address() as AddressInfo; // as: it listens on a port
  const env = {
    ...process.env,
    MESSAGING_BASE_URL: `http://127.0.0.1:${port}`,
    MESSAGING_API_KEY: 'sk_test_key',
  };
  const args = ['--expose-gc', child.path, String(files)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 60_000 });
  const { copies } = JSON.parse(stdout) as { copies: number };
  console.log(`${copies.toFixed(2)} copies`);
  expect(copies).toBeLessThan(maxCopies);
  const large = received.splice(0).filter((bytes) => bytes >= 5_000_000);
  expect(large).toHaveLength(files);
}, 90_000);
