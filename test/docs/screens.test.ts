import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { openChromium } from '../../scripts/projects/browser.js';
import { photograph, problemsOf } from '../support/docs/axe.js';

const folder = 'site/dist';
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const screens = [
  ['home', '/'],
  ['guide', '/errors.html'],
  ['table', '/messaging.html'],
  ['reference', '/reference/postreel/classes/MediaClient.html'],
] as const;

let server: Server | undefined;
let url = '';
let browser: Browser | undefined;
let reason = '';

beforeAll(async () => {
  browser = await openChromium().catch((error: unknown) => {
    reason = `no Chromium: ${String(error)}`;
    return undefined;
  });
  if (!browser) {
    console.warn(reason);
    return;
  }
  // `SITE=built` uses the site that was built before, to check a page again and again.
  if (process.env['SITE'] !== 'built' || !existsSync(folder)) {
    await promisify(execFile)(process.execPath, ['--import', 'tsx', 'scripts/site/index.ts']);
  }
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const path = join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    if (!existsSync(path)) {
      return void response.writeHead(404).end();
    }
    response.writeHead(200, { 'content-type': types[extname(path)] ?? 'text/plain' });
    response.end(readFileSync(path));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, 900_000);
afterAll(async () => {
  await browser?.close();
  server?.close();
});

/** Opens a page of the site; a machine without a browser skips the test, and says why. */
async function open(
  { skip }: TestContext,
  path: string,
  { colorScheme = 'light', width = 1280 }: { colorScheme?: 'light' | 'dark'; width?: number } = {},
): Promise<Page> {
  const page = await browser?.newPage({ colorScheme, viewport: { width, height: 900 } });
  if (!page) {
    return skip(reason);
  }
  await page.goto(url + path);
  return page;
}

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  it.for(screens)('axe finds nothing on the %s page', async ([name, path], context) => {
    const page = await open(context, path, { colorScheme });
    expect(await problemsOf(page)).toEqual([]);
    await photograph(page, `${name}-${colorScheme}-1280`);
    await page.close();
  });

  it.for(screens)('the %s page fits 390 px', async ([name, path], context) => {
    const page = await open(context, path, { colorScheme, width: 390 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await photograph(page, `${name}-${colorScheme}-390`);
    await page.close();
  });
});

describe('the search', () => {
  it.for([
    ['Retry-After', 'errors.html#retry-after'],
    ['unsubscribe', 'contacts.html#subscribe-and-unsubscribe'],
    ['webhook secret', 'webhooks.html#the-webhook-secret'],
    ['attachment', 'emails.html#attachments'],
    ['headers', 'emails.html#headers'],
    ['webhook', 'webhooks.html'],
    ['cost', 'media.html#what-it-costs'],
  ] as const)('finds %s first', async ([words, target], context) => {
    const page = await open(context, '/');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill(words);
    const first = page.locator('#localsearch-list a').first();
    await first.waitFor({ timeout: 60_000 });
    await expect.poll(() => first.getAttribute('href'), { timeout: 20_000 }).toContain(target);
    await page.close();
  });
});
