import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MessagingClient } from 'postreel';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { snippetsOf } from '../support/snippets.js';

// Inside the repository, where `postreel` means this package.
mkdirSync('test/.tmp', { recursive: true });

let fake: FakeMessaging;
let folder = '';
beforeEach(() => {
  fake = createFakeMessaging();
  folder = mkdtempSync('test/.tmp/workflows-');
  vi.stubEnv('MESSAGING_BASE_URL', fake.baseUrl);
  vi.stubEnv('MESSAGING_API_KEY', fake.secretKey);
  vi.stubGlobal('fetch', fake.fetch);
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

let count = 0;
async function run(code: string): Promise<void> {
  count += 1;
  const file = resolve(join(folder, `${count}.ts`));
  writeFileSync(file, code);
  await import(/* @vite-ignore */ file);
}

const mails = () =>
  fake.outbox.map(({ to, subject, sentAt }) => [to, subject, sentAt.slice(0, 10)]);

const day = (after: number) =>
  new Date(fake.clock.now() + after * 86_400_000).toISOString().slice(0, 10);

const [page = '', ...others] = snippetsOf('docs/workflows.md').map(({ code }) => code);
const asCode = others.find((code) => code.includes('deploy(onboarding')) ?? '';
const example = (name: string) => readFileSync(`examples/${name}.ts`, 'utf8');

describe('the documented workflow', () => {
  it('at the top of the page welcomes by name, and deployed twice is one workflow', async () => {
    const today = day(0);
    await run(page);
    expect(mails()).toEqual([['ann@example.com', 'Welcome Ann', today]]);
    await run(`${page} // again`);
    expect([...fake.project.workflows.values()].map(({ enabled }) => enabled)).toEqual([true]);
    expect(fake.outbox).toHaveLength(1); // a contact goes through it once
  });

  it('as code mails at once, and mails an offer after two days to contacts without the pro plan', async () => {
    const days = [day(0), day(2)];
    await run(asCode);
    const messaging = new MessagingClient(fake.options);
    const event = 'signed_up';
    const data = { plan: 'free', name: 'Ann' };
    await messaging.track({ email: 'ann@example.com', event, data });
    await messaging.track({ email: 'bea@example.com', event, data: { plan: 'pro' } });
    await fake.advance('30d');
    expect(mails()).toEqual([
      ['ann@example.com', 'Welcome Ann', days[0]],
      ['bea@example.com', 'Welcome on board', days[0]],
      ['ann@example.com', 'Go pro', days[1]],
    ]);
  });

  it('of example 24 does the same, and does nothing if it is run again', async () => {
    const days = [day(0), day(2)];
    await run(example('29-deploy-a-workflow'));
    await run(example('29-deploy-a-workflow'));
    await fake.advance('30d');
    expect(mails()).toEqual([
      ['ann@example.com', 'Welcome Ann', days[0]],
      ['ann@example.com', 'Go pro', days[1]],
    ]);
    expect(fake.project.workflows.size).toBe(1);
    expect(fake.project.templates.size).toBe(1);
  });

  it('of example 13 mails a pro customer after an hour', async () => {
    await run(example('13-workflow'));
    await fake.advance('59m');
    expect(fake.outbox).toHaveLength(0);
    await fake.advance('1m');
    expect(fake.outbox.map(({ to, subject }) => [to, subject])).toEqual([
      ['ann@example.com', 'Welcome Ann'],
    ]);
  });
});
