import { type ChildProcess, spawn } from 'node:child_process';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Profile, openProfile, until } from '../support/tracker/browser.js';

let server: ChildProcess;
let profile: Profile;
let page: Page;

beforeAll(async () => {
  // The documented command, in a separate process group, so that all its processes can be ended.
  server = spawn('npm', ['run', '--silent', 'demo:tracker'], { detached: true });
  profile = await openProfile('chromium');
  page = await profile.context.newPage();
  await page.goto(await addressOf(server));
}, 120_000);
afterAll(async () => {
  await profile.close();
  process.kill(-server.pid!, 'SIGTERM');
}, 60_000);

const text = (id: string) => page.locator(`#${id}`).innerText();
const answer = (status: string) =>
  Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST'),
    page.locator('#answer').selectOption(status),
  ]);

describe('the demo page of the tracker', () => {
  it('shows a delivery, in the page and at the service', async () => {
    await page.getByText('Track one').click();
    await page.locator('#notices').getByText('delivered #1').waitFor();
    await page.locator('#arrivals').getByText('clicked #1 200').waitFor();
    expect(await Promise.all(['delivered', 'taken', 'repeated'].map(text))).toEqual([
      '1',
      '1',
      '0',
    ]);
  });
  it('shows the waiting events until they are sent', async () => {
    await page.getByText('Pause').click();
    await page.getByText('Track one').click();
    await page.locator('#queue').getByText('clicked #2 waits').waitFor();
    expect(await text('queued')).toBe('1');
    await page.getByText('Resume').click();
    await page.locator('#arrivals').getByText('clicked #2 200').waitFor();
    await until(async () => (await text('queued')) === '0');
  });
  it('shows a dropped event if the service rejects it', async () => {
    await answer('400');
    await page.getByText('Track one').click();
    await page.locator('#notices').getByText('dropped #3 rejected').waitFor();
    expect(await text('dropped')).toBe('1');
    await answer('200');
  });
  it('loses and repeats no event over a reload', async () => {
    await page.getByText('Track 15 and reload').click();
    await until(async () => Number(await text('taken')) >= 17);
    await page.getByText('Track one').click();
    await until(async () => (await text('taken')) === '18');
    expect(await text('repeated')).toBe('0');
  });
});

/** The address that the command prints. */
function addressOf({ stdout, stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const address = /The page: (\S+)/.exec(output)?.[1];
      if (address) {
        resolve(address);
      }
    };
    stdout?.on('data', read).on('end', () => reject(new Error(output)));
    stderr?.on('data', read);
  });
}
