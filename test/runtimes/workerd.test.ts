import { createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorker, type RunningWorker } from '../support/runtimes/workerd.js';

const requests = 50;
let folder: string;
let worker: RunningWorker;
let answers = 0;
let checks = 0;

const service = createServer((request, response) => {
  const isCheck = request.url?.includes('status') ?? false;
  answers++;
  // The file is finished at the fifth check.
  const status = isCheck && ++checks < 5 ? 'processing' : 'success';
  const file = { fileId: 'file_1', status, download: 'https://media.test/file_1' };
  setTimeout(() => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(isCheck ? { success: true, data: file } : { id: 'con_1' }));
  }, 20);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  folder = await mkdtemp(join(tmpdir(), 'postreel-workerd-'));
  worker = await startWorker(folder, { entry: 'worker.ts', compatibilityDate: '2025-06-01' });
});
afterAll(async () => {
  await worker.stop();
  service.closeAllConnections();
  service.close();
  await rm(folder, { recursive: true, force: true });
});

describe.each(['one', 'one for each request'] as const)('in workerd, clients: %s', (clients) => {
  it('each of 50 simultaneous requests ends while they share a limit of 5', async () => {
    answers = 0;
    const ends = await all({ service: 'messaging', clients });
    expect(new Set(ends)).toEqual(new Set(['200 {"id":"con_1"}']));
    expect(answers).toBe(requests);
  });

  it('each of 50 simultaneous requests ends while they wait for the same file', async () => {
    checks = 0;
    const ends = await all({ service: 'media', clients });
    expect(new Set(ends)).toEqual(new Set(['200 {"id":"file_1"}']));
  });
});

function all(wish: Record<string, string>): Promise<string[]> {
  const { port } = service.address() as AddressInfo; // as: it listens on a port
  const query = new URLSearchParams({ ...wish, origin: `http://127.0.0.1:${port}` });
  return Promise.all(
    Array.from({ length: requests }, async () => {
      const signal = AbortSignal.timeout(20_000);
      const response = await fetch(`${worker.url}/?${query}`, { signal });
      return `${response.status} ${await response.text()}`;
    }),
  );
}
