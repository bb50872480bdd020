import type { Browser, Page } from 'playwright-core';
import { defineWorkflow, MediaClient, MessagingClient } from 'postreel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTerminal, type Terminal } from '../support/cli/command.js';
import { openPage } from '../support/cli/page.js';
import { photograph, problemsOf } from '../support/docs/axe.js';

let terminal: Terminal;
let browser: Browser;
let page: Page;
let messaging: MessagingClient;
let media: MediaClient;
beforeAll(async () => {
  terminal = inTerminal(['fake', '--port', '0', '--seed', '4', '--no-log']);
  await terminal.until('Web page: ');
  const env = Object.fromEntries(
    [...terminal.text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
  const [, url = ''] = /Web page: (\S+)/.exec(terminal.text) ?? [];
  messaging = new MessagingClient({
    apiKey: env['MESSAGING_API_KEY'],
    baseUrl: env['MESSAGING_BASE_URL'],
    retries: 0,
  });
  media = new MediaClient({ apiKey: env['MEDIA_API_KEY'], baseUrl: env['MEDIA_BASE_URL'] });
  ({ browser, page } = await openPage(url));
});
afterAll(async () => {
  await browser.close();
  terminal.kill('SIGTERM');
});

const open = (tab: string) => page.getByRole('tab', { name: tab }).click();
const send = (subject: string) =>
  messaging.send({
    from: 'shop@example.com',
    to: 'ann@example.com',
    subject,
    body: '<h1>Hi</h1><script>parent.document.title = "hacked"</script>',
  });

it('shows an email as soon as it is sent, without a reload', async () => {
  await open('Outbox');
  await send('Spring is here');
  await page.getByRole('cell', { name: 'Spring is here' }).waitFor({ timeout: 5_000 });
  await page.getByRole('cell', { name: 'Spring is here' }).click();
  const body = page.frameLocator('iframe').getByRole('heading', { name: 'Hi' });
  await body.waitFor({ timeout: 5_000 });
  expect(await page.title()).toBe('Postreel fakes');
  await page.getByRole('button', { name: 'Close' }).click();
});

it('lists contacts, events, campaigns, jobs and requests', async () => {
  await messaging.track({ email: 'bob@example.com', event: 'signed_up' });
  await media.generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
  for (const [tab, text] of [
    ['Contacts', 'bob@example.com'],
    ['Events', 'signed_up'],
    ['Campaigns', 'SENT'],
    ['Jobs', 'audio'],
    ['Requests', 'POST /v1/track'],
  ] as const) {
    await open(tab);
    await page.getByRole('cell', { name: text }).first().waitFor({ timeout: 5_000 });
  }
});

it('makes the next request fail', async () => {
  await page.getByLabel('Endpoint').selectOption('messaging POST /v1/send');
  await page.getByLabel('Fault').selectOption('with 422');
  await page.getByRole('button', { name: 'Make it fail' }).click();
  await page.getByText('The next POST /v1/send fails with 422.').waitFor({ timeout: 5_000 });
  await expect(send('Refused')).rejects.toMatchObject({ status: 422 });
  await expect(send('Accepted')).resolves.toBeDefined();
});

it('moves the clock: a job is finished at once', async () => {
  await open('Jobs');
  await page.getByRole('button', { name: '+1 h' }).click();
  await page.getByRole('cell', { name: 'success' }).waitFor({ timeout: 5_000 });
  const ahead = Date.parse(`${(await page.locator('#now').textContent()) ?? ''}Z`) - Date.now();
  expect(ahead).toBeGreaterThan(3_500_000);
  await page
    .getByText('The clock of the fakes is 60 min ahead of this machine.')
    .waitFor({ timeout: 5_000 });
});

it('shows the text of a job, and links its file', async () => {
  await open('Jobs');
  await page.getByRole('cell', { name: 'Good morning!' }).waitFor({ timeout: 5_000 });
  const href = await page.getByRole('link', { name: 'Open' }).first().getAttribute('href');
  expect((await fetch(href ?? '')).status).toBe(200);
});

it('is served without requests to other hosts', async () => {
  const failed: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) {
      failed.push(response.url());
    }
  });
  await page.reload();
  await page.getByRole('tab', { name: 'Jobs' }).waitFor({ timeout: 5_000 });
  expect(failed).toEqual([]);
});

it('shows the body and the response of each request', async () => {
  await open('Requests');
  await page.getByRole('searchbox', { name: 'Filter' }).fill('generate/audio');
  await page.getByRole('button', { name: 'POST /v1/generate/audio' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('"Good morning!"').waitFor({ timeout: 5_000 });
  await dialog.getByText('"fileId"').waitFor({ timeout: 5_000 });
  await page.getByRole('button', { name: 'Close' }).click();
});

it('filters the rows by any text in them, including responses', async () => {
  const rows = page.locator('tbody tr');
  const filter = page.getByRole('searchbox', { name: 'Filter' });
  await filter.fill('v1/TRACK');
  await expect.poll(() => rows.count(), { timeout: 5_000 }).toBe(1);
  await filter.fill('"outcome of nothing"');
  await page.getByText('Nothing with this text.').waitFor({ timeout: 5_000 });
  await filter.fill('filescreated');
  await page.getByText('Nothing with this text.').waitFor({ timeout: 5_000 });
  await filter.fill('"fileId"');
  await expect.poll(() => rows.count(), { timeout: 5_000 }).toBe(1);
  await filter.fill('');
  await expect.poll(() => rows.count(), { timeout: 5_000 }).toBeGreaterThan(2);
});

it('shows the headers, the attachments and the reply address of an email', async () => {
  await messaging.send({
    from: 'shop@example.com',
    to: 'ann@example.com',
    subject: 'With a file',
    body: 'Hi',
    reply: 'help@example.com',
    headers: { 'X-Order': '1042' },
    attachments: [{ filename: 'bill.txt', content: new Uint8Array(30), contentType: 'text/plain' }],
  });
  await open('Outbox');
  await page.getByRole('button', { name: 'With a file' }).click();
  const dialog = page.getByRole('dialog');
  for (const text of ['help@example.com', 'X-Order', 'bill.txt (text/plain, 30 bytes)']) {
    await dialog.getByText(text).waitFor({ timeout: 5_000 });
  }
  await page.getByRole('button', { name: 'Close' }).click();
});

it('shows the contacts in a workflow', async () => {
  const definition = defineWorkflow({
    name: 'Onboarding',
    trigger: { event: 'onboarded' },
    steps: {
      wait: { type: 'DELAY', amount: 2, unit: 'days', next: 'done' },
      done: { type: 'EXIT' },
    },
  });
  await messaging.workflows.deploy(definition, { enable: true });
  await messaging.track({ email: 'carl@example.com', event: 'onboarded' });
  await open('Executions');
  await page.getByRole('cell', { name: 'carl@example.com' }).waitFor({ timeout: 5_000 });
});

it('counts all rows, shows the newest, and finds each of them', async () => {
  const rows = Array.from({ length: 250 }, (_, at) => ({ email: `reader${at}@example.com` }));
  await messaging.contacts.importAll(rows, {
    newContacts: 'subscribed',
    wait: { interval: 100 },
  });
  await open('Contacts');
  await page.getByText(/The newest 200 of 25\d\./).waitFor({ timeout: 5_000 });
  await page.getByRole('tab', { name: /Contacts \(25\d\)/ }).waitFor({ timeout: 5_000 });
  await page.getByRole('searchbox', { name: 'Filter' }).fill('reader0@');
  await page.getByRole('cell', { name: 'reader0@example.com' }).waitFor({ timeout: 5_000 });
  await page.getByRole('searchbox', { name: 'Filter' }).fill('');
});

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  it.each(['Requests', 'Outbox', 'Contacts', 'Events', 'Campaigns', 'Executions', 'Jobs'])(
    '%s fits 390 px, and axe finds nothing',
    async (tab) => {
      await page.emulateMedia({ colorScheme });
      await open(tab);
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        expect(await problemsOf(page)).toEqual([]);
        await photograph(page, `fake-${tab}-${colorScheme}-${width}`);
      }
    },
  );

  it('a response fits too', async () => {
    await open('Requests');
    await page.getByRole('button', { name: 'POST /v1/track' }).first().click();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await problemsOf(page)).toEqual([]);
    await photograph(page, `fake-answer-${colorScheme}-390`);
    await page.getByRole('button', { name: 'Close' }).click();
  });
});

it('reports that the fakes have stopped', async () => {
  if (process.env['FAKE_PICTURE']) {
    await page.setViewportSize({ width: 1000, height: 620 });
    await page.emulateMedia({ colorScheme: 'light' });
    await open('Outbox');
    await page.waitForTimeout(300);
    await page.screenshot({ path: process.env['FAKE_PICTURE'] });
  }
  terminal.kill('SIGTERM');
  await terminal.ended;
  await page.getByText('The fakes have stopped.').waitFor({ timeout: 5_000 });
});
