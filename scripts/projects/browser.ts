import { existsSync } from 'node:fs';
import packaged from '@sparticuz/chromium';
import { chromium, type Browser } from 'playwright-core';

const system = '/usr/bin/chromium';

/** Chromium: the system's where there is one, else the one from npm. */
export async function openChromium(): Promise<Browser> {
  return chromium.launch(
    existsSync(system)
      ? { executablePath: system, args: ['--no-sandbox', '--disable-dev-shm-usage'] }
      : { executablePath: await packaged.executablePath(), args: packaged.args },
  );
}

/** The document of a page once it says what it is to say, or as it is half a minute later. */
export async function documentOf(url: string, answer: string): Promise<string> {
  const browser = await openChromium();
  try {
    const page = await browser.newPage();
    const heard: string[] = [];
    page.on('console', (message) => heard.push(message.text()));
    page.on('pageerror', (error) => heard.push(String(error)));
    await page.goto(url);
    await page
      .getByText(answer)
      .first()
      .waitFor({ timeout: 30_000 })
      .catch((error: unknown) => heard.push(String(error)));
    return [await page.content(), ...heard].join('\n');
  } finally {
    await browser.close();
  }
}
