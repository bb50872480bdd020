import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { startFakeServer } from 'postreel/testing';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { bundleScript } from '../support/node/bundled.js';

let child: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  child = await bundleScript('test/support/once/late-child.ts');
});
afterAll(() => child.remove());

/**
 * Runs a process until it ends by itself, and returns the lines it printed; its clock runs `speed`
 * times faster.
 */
async function run(kind: string, url: string, key: string, speed?: number): Promise<string[]> {
  const fast = speed === undefined ? [] : ['--import', './test/support/node/fast-clock.mjs'];
  const { stdout } = await promisify(execFile)(process.execPath, [...fast, child.path, kind, url], {
    timeout: 90_000,
    env: { ...process.env, MEDIA_API_KEY: key, MESSAGING_API_KEY: key, SPEED: String(speed) },
  });
  return stdout.trimEnd().split('\n');
}

it('a process stays alive until a paid response is read, also without a journal, and a warning says so', async () => {
  const server = await startFakeServer({});
  onTestFinished(() => server.close());
  server.media.fail('POST /v1/generate/audio', { slow: 2_000 });
  expect(await run('paid', server.mediaUrl, server.media.apiKey)).toEqual([
    expect.stringMatching(/^warning: .*keeps the process alive/),
    expect.stringContaining('TimeoutError'),
    'last line',
    `accepted ${server.media.files[0]?.fileId}`,
  ]);
});

it('a process ends five minutes after a paid call was given up, whatever the service does', async () => {
  const server = createServer(() => undefined); // it never answers
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  expect(await run('paid', `http://127.0.0.1:${port}`, 'key', 200)).toEqual([
    expect.stringMatching(/^warning: .*keeps the process alive/),
    expect.stringContaining('TimeoutError'),
    'last line',
  ]);
});

it('a process ends at once if its journal cannot be written', async () => {
  const server = await startFakeServer({});
  onTestFinished(() => server.close());
  expect(await run('journal', server.messagingUrl, server.messaging.secretKey)).toEqual([
    expect.stringContaining('as soon as the journal answers'),
    'last line',
  ]);
});
