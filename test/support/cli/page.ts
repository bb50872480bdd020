import packaged from '@sparticuz/chromium';
import { chromium, type Browser, type Page } from 'playwright-core';

/** A page of the Chromium from npm, with its browser to be closed. */
export async function openPage(url: string): Promise<{ browser: Browser; page: Page }> {
  const browser = await chromium.launch({
    executablePath: await packaged.executablePath(),
    args: [...packaged.args, '--no-sandbox', '--disable-gpu'],
    headless: true,
  });
  const page = await browser.newPage({ viewport: { width: 1000, height: 620 } });
  await page.goto(url);
  return { browser, page };
}
