import { afterEach, expect, it } from 'vitest';
import { openApprovalPage, type ApprovalPage } from '../../../src/cli/mcp/approval-page.js';
import { later, mail, openDesk, type DeskScene } from '../../support/cli/desk.js';

let page: ApprovalPage | undefined;
afterEach(() => page?.close());

interface PageScene extends DeskScene {
  readonly url: string;
  post(fields: Record<string, string>, headers?: Record<string, string>): Promise<number>;
}

async function openPage(): Promise<PageScene> {
  const scene = openDesk();
  page = await openApprovalPage(scene.desk.plans);
  const { url } = page;
  return {
    ...scene,
    url,
    post: async (fields, headers = {}) => {
      const body = new URLSearchParams(fields);
      const response = await fetch(new URL('/', url), { method: 'POST', body, headers });
      return response.status;
    },
  };
}

const tokenOf = (url: string) => new URL(url).searchParams.get('token') ?? '';

it('shows the plan whole, and a yes there lets it be carried out', async () => {
  const scene = await openPage();
  const plan = await scene.plan('plan_email', { ...mail, body: '<b onclick="x()">Hello</b>' });
  const response = await fetch(scene.url);
  const html = await response.text();
  expect(html).toContain('&lt;b onclick=&quot;x()&quot;&gt;Hello&lt;/b&gt;');
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  const { fingerprint } = scene.desk.plans.get(plan);
  const fields = { token: tokenOf(scene.url), plan, fingerprint, answer: 'yes' };
  expect(await scene.post(fields)).toBe(200);
  await scene.carryOut(plan, later);
  expect(scene.messaging.outbox).toHaveLength(1);
  expect(await scene.post(fields)).toBe(409);
});

it.each([
  ['no token', { token: '' }, {}],
  ['another token', { token: 'guess' }, {}],
  ['a yes to another plan', { fingerprint: '0000000000000000' }, {}],
  ['a form that is too long', { more: 'x'.repeat(5000) }, {}],
])('refuses %s', async (_, wrong, headers) => {
  const scene = await openPage();
  const plan = await scene.plan('plan_email', mail);
  const { fingerprint } = scene.desk.plans.get(plan);
  const right = { token: tokenOf(scene.url), plan, fingerprint, answer: 'yes' };
  expect(await scene.post({ ...right, ...wrong }, headers)).toBeGreaterThanOrEqual(400);
  await expect(scene.carryOut(plan, later)).rejects.toThrow('A person must say yes first');
});

it('shows nothing without the token', async () => {
  const scene = await openPage();
  await scene.plan('plan_email', mail);
  const response = await fetch(new URL('/', scene.url));
  expect(response.status).toBe(403);
  expect(await response.text()).not.toContain('ann@example.com');
});

it('answers under its own address only', async () => {
  const scene = await openPage();
  const port = new URL(scene.url).port;
  const { createConnection } = await import('node:net');
  const text = await new Promise<string>((resolve) => {
    const socket = createConnection(Number(port), '127.0.0.1', () =>
      socket.write(
        `GET /?token=${tokenOf(scene.url)} HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n`,
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

it('a no ends the plan', async () => {
  const scene = await openPage();
  const plan = await scene.plan('plan_email', mail);
  const { fingerprint } = scene.desk.plans.get(plan);
  await scene.post({ token: tokenOf(scene.url), plan, fingerprint, answer: 'no' });
  await expect(scene.carryOut(plan, later)).rejects.toThrow('There is no such plan');
});
