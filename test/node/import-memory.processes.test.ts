import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundled } from '../support/node/bundled.js';

const rows = 1_000_000;

// Not by `rss`, which grows with the machine's leisure: a process whose heap may not grow ends if it
// keeps what it has sent. Measured: 24 is enough for a million rows, 20 is not, since the first 5 MB of
// a file wait until its encoding is certain.
const heapMb = 32;

// A service that reads each file to its end and forgets it: the memory here is the client's alone.
let largest = 0;
const server = createServer((request, response) => {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.on('end', () => {
    largest = Math.max(largest, bytes);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jobId: 'job_1', status: 'completed' }));
  });
});

let child: Awaited<ReturnType<typeof bundled>>;
beforeAll(async () => {
  child = await bundled('test/support/node/import-child.ts');
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  server.close();
  await child.remove();
});

it.each(['objects', 'text'])(
  `imports ${rows} rows of %s in flat memory`,
  async (kind) => {
    const one = await importRows(1, kind);
    const { imported, failed, parts, rssMb } = await importRows(rows, kind);
    console.log(
      `${rows} rows of ${kind}: ${parts} files, ${rssMb.toFixed(0)} MB; one row: ${one.rssMb.toFixed(0)} MB`,
    );
    expect({ imported, failed }).toEqual({ imported: rows, failed: [] });
    // With the heap held small, what is left above one row are buffers: 60 MB were measured.
    expect(rssMb - one.rssMb).toBeLessThan(150);
    expect(parts).toBeGreaterThan(1);
    expect(largest).toBeLessThanOrEqual(5 * 1024 * 1024);
  },
  400_000,
);

interface Imported {
  readonly imported: number;
  readonly failed: readonly unknown[];
  readonly parts: number;
  /** The most that the process has ever had in memory. */
  readonly rssMb: number;
}

/** Imports rows in a process of its own. */
async function importRows(count: number, kind: string): Promise<Imported> {
  const { port } = server.address() as AddressInfo; // of a socket
  const env = {
    ...process.env,
    MESSAGING_BASE_URL: `http://127.0.0.1:${port}`,
    MESSAGING_API_KEY: 'sk_test_key',
  };
  const args = [`--max-old-space-size=${heapMb}`, child.path, String(count), kind];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout) as Imported;
}
