import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleScript } from '../support/node/bundled.js';

const rows = 1_000_000;

// The heap is limited instead of measuring `rss`, which depends on when the collector runs: a
// process that kept the rows it has sent would run out of memory. Measured: 24 MB is enough for a
// million rows and 20 MB is not, because the first 5 MB of a file are kept until the encoding is
// known.
const heapMb = 32;

// The server reads each file to its end and discards it, so only the client uses memory.
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

let child: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  child = await bundleScript('test/support/node/import-child.ts');
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  server.close();
  await child.remove();
});

it.each(['objects', 'text'])(
  `an import of ${rows} rows of %s uses flat memory`,
  async (kind) => {
    const one = await importRows(1, kind);
    const { imported, failed, parts, rssMb } = await importRows(rows, kind);
    console.log(
      `${rows} rows of ${kind}: ${parts} files, ${rssMb.toFixed(0)} MB; one row: ${one.rssMb.toFixed(0)} MB`,
    );
    expect({ imported, failed }).toEqual({ imported: rows, failed: [] });
    // The heap is limited, so the growth above the import of one row is buffers: measured 60 MB.
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
  /** The peak memory of the process. */
  readonly rssMb: number;
}

/** Imports rows in a separate process. */
async function importRows(count: number, kind: string): Promise<Imported> {
  const { port } = server.address() as AddressInfo; // as: it listens on a port
  const env = {
    ...process.env,
    MESSAGING_BASE_URL: `http://127.0.0.1:${port}`,
    MESSAGING_API_KEY: 'sk_test_key',
  };
  const args = [`--max-old-space-size=${heapMb}`, child.path, String(count), kind];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout) as Imported;
}
