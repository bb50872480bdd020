import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import { build } from 'esbuild';
import { chromium as browsers, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeServer, type Fault } from 'postreel/testing';
import type { Lab } from '../support/testing/worker-page.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

let browser: Browser;
let page: Page;
let site: Server;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [path('../support/testing/worker-page.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
  });
  const msw = path('../../node_modules/msw/lib/mockServiceWorker.js');
  const files: Record<string, [type: string, text: string]> = {
    '/': ['text/html', '<!doctype html><script type="module" src="/page.js"></script>'],
    '/page.js': ['text/javascript', outputFiles[0]!.text],
    '/mockServiceWorker.js': ['text/javascript', await readFile(msw, 'utf8')],
  };
  site = createServer(({ url = '' }, response) => {
    const [type, text] = files[url] ?? ['text/plain', ''];
    response.writeHead(files[url] === undefined ? 404 : 200, { 'content-type': type }).end(text);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const { port } = site.address() as AddressInfo; // as: it listens on a port
  const executablePath = await chromium.executablePath();
  browser = await browsers.launch({ executablePath, args: chromium.args, headless: true });
  page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.waitForFunction(() => 'lab' in globalThis);
});

afterAll(async () => {
  await browser.close();
  site.close();
});

/** Adds a contact in the page, through MSW's worker, under a fault. */
const post = (fault?: Fault) =>
  page.evaluate(
    (given) => (globalThis as unknown as { lab: Lab }).lab.post(given), // as: set by the page
    fault,
  );

describe("MSW's setupWorker in a browser", () => {
  it('answers', async () => {
    expect(await post()).toMatchObject({ status: 201, contacts: 1 });
  });

  it('status: answers without effect', async () => {
    expect(await post({ status: 503 })).toMatchObject({ status: 503, contacts: 0 });
  });

  it('drop: a network error, without effect', async () => {
    expect(await post({ drop: true })).toMatchObject({ failure: 'TypeError', contacts: 0 });
  });

  it('loseAnswer: a network error after the effect', async () => {
    expect(await post({ loseAnswer: true })).toMatchObject({ failure: 'TypeError', contacts: 1 });
  });

  it('hang: no answer until the caller gives up', async () => {
    expect(await post({ hang: true })).toMatchObject({ failure: 'TimeoutError', contacts: 0 });
  });

  it('truncate: the body cannot be read, after the effect', async () => {
    expect(await post({ truncate: true })).toMatchObject({ failure: 'TypeError', contacts: 1 });
  });

  it('malformed: broken JSON, after the effect', async () => {
    expect(await post({ malformed: true })).toMatchObject({ failure: 'SyntaxError', contacts: 1 });
  });

  it('html: the page of a gateway', async () => {
    expect(await post({ html: true })).toMatchObject({ status: 502, failure: 'SyntaxError' });
  });
});

describe('a real server, called by a browser', () => {
  it('answers across origins, with a preflight', async () => {
    const server = await startFakeServer();
    const result = await page.evaluate(
      ([url, key]) => (globalThis as unknown as { lab: Lab }).lab.postTo(url!, key!), // as: set by the page
      [server.messagingUrl, server.messaging.secretKey],
    );
    await server.close();
    expect(result).toMatchObject({ status: 201 });
  });
});
