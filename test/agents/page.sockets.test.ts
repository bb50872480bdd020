import { readFileSync, statSync } from 'node:fs';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openApprovalPage, type ApprovalPage } from '../../src/agents/approval-page.js';
import { later, mail, openPlanScene, type PlanScene } from '../support/agents/desk.js';

let page: ApprovalPage | undefined;
afterEach(() => page?.close());

interface PageScene extends PlanScene {
  readonly page: ApprovalPage;
  /** Of an email that a person is asked about. */
  readonly asked: { readonly id: string; readonly fingerprint: string };
  get(): Promise<string>;
  post(fields: Record<string, string>): Promise<number>;
}

async function openPage(input: object = mail): Promise<PageScene> {
  const scene = openPlanScene();
  page = await openApprovalPage(scene.planStore);
  const { url } = page;
  const id = await scene.plan('plan_email', input);
  await scene.carryOut(id, later);
  const [asked] = scene.planStore.listAsked();
  return {
    ...scene,
    page,
    asked: asked!,
    get: async () => (await fetch(url)).text(),
    post: async (fields) => {
      const body = new URLSearchParams(fields);
      return (await fetch(new URL('/', url), { method: 'POST', body })).status;
    },
  };
}

const tokenOf = ({ url }: ApprovalPage) => new URL(url).searchParams.get('token') ?? '';

it('shows the whole plan; a yes carries it out, once', async () => {
  const scene = await openPage({ ...mail, body: '<b onclick="x()">Hello</b>' });
  const response = await fetch(scene.page.url);
  const html = await response.text();
  expect(html).toContain('&lt;b onclick=&quot;x()&quot;&gt;Hello&lt;/b&gt;');
  expect(html).not.toContain('http-equiv');
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  const { id: plan, fingerprint } = scene.asked;
  const fields = { token: tokenOf(scene.page), plan, fingerprint, answer: 'yes' };
  expect(await scene.post(fields)).toBe(200);
  await scene.planStore.waitUntilIdle();
  expect(scene.messaging.outbox).toHaveLength(1);
  expect(await scene.get()).toContain('Send 1 email: Done.');
  expect(await scene.post(fields)).toBe(409);
  expect(scene.messaging.outbox).toHaveLength(1);
});

it('shows only plans that a person was asked about, and refreshes itself', async () => {
  const scene = openPlanScene();
  page = await openApprovalPage(scene.planStore);
  await scene.plan('plan_email', mail);
  const html = await (await fetch(page.url)).text();
  expect(html).toContain('http-equiv="refresh"');
  expect(html).not.toContain('ann@example.com');
});

it.each([
  ['no token', { token: '' }],
  ['another token', { token: 'guess' }],
  ['a yes to another plan', { fingerprint: '0000000000000000' }],
  ['a form that is too long', { more: 'x'.repeat(5000) }],
])('refuses %s', async (_, wrong) => {
  const scene = await openPage();
  const { id: plan, fingerprint } = scene.asked;
  const right = { token: tokenOf(scene.page), plan, fingerprint, answer: 'yes' };
  expect(await scene.post({ ...right, ...wrong })).toBeGreaterThanOrEqual(400);
  await scene.planStore.waitUntilIdle();
  expect(scene.messaging.outbox).toEqual([]);
});

it('shows nothing without the token', async () => {
  const scene = await openPage();
  const response = await fetch(new URL('/', scene.page.url));
  expect(response.status).toBe(403);
  expect(await response.text()).not.toContain('ann@example.com');
});

it('responds only under its own address', async () => {
  const scene = await openPage();
  const port = Number(new URL(scene.page.url).port);
  const text = await new Promise<string>((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () =>
      socket.write(
        `GET /?token=${tokenOf(scene.page)} HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n`,
      ),
    );
    let read = '';
    socket.on('data', (chunk) => {
      read += chunk.toString();
    });
    socket.once('close', () => resolve(read));
  });
  expect(text).toMatch(/^HTTP\/1.1 404/);
});

it('ends the plan with a no', async () => {
  const scene = await openPage();
  const { id: plan, fingerprint } = scene.asked;
  await scene.post({ token: tokenOf(scene.page), plan, fingerprint, answer: 'no' });
  await expect(scene.carryOut(plan, later)).rejects.toThrow('The person said no');
  expect(await scene.get()).toContain('Send 1 email: The person said no.');
});

it('stores its address in a file that only this user can read, and has a fixed port if one is given', async () => {
  const scene = await openPage();
  const { file } = scene.page.redirect as { file: string }; // as: it can be written here
  expect(readFileSync(file, 'utf8')).toContain(`content="0;url=${scene.page.url}"`);
  expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777])
    // Windows has no such modes.
    .toEqual(process.platform === 'win32' ? expect.anything() : [0o600, 0o700]);
  const port = Number(new URL(scene.page.url).port);
  await scene.page.close();
  page = await openApprovalPage(scene.planStore, port);
  expect(page.host).toBe(`127.0.0.1:${port}`);
  await expect(openApprovalPage(scene.planStore, port)).rejects.toThrow(
    /is taken.*leave out --port/,
  );
});
