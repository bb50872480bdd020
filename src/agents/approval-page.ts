import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../core/errors.js';
import { isRecord } from '../core/values.js';
import { CommandEnd } from '../cli/exit-codes.js';
import type { PlanStore, Plan } from './plans.js';
import { ToolRefusal } from './text.js';

/** A page on this machine where a person approves or refuses plans. */
export interface ApprovalPage {
  /** `127.0.0.1:4020` */
  readonly host: string;
  /**
   * The address with the token, for the person's browser only: it must not appear in a response, a log or a
   * notice.
   */
  readonly url: string;
  /**
   * A file that redirects a browser to the page and that only this user can read, or the reason why it is
   * missing. Browsers are started with the file's name, because any user can read the arguments of a process.
   */
  readonly redirect: { readonly file: string } | { readonly problem: string };
  close(): Promise<void>;
}

const maxFormBytes = 2000;

/** Opens the page on 127.0.0.1. Only the holder of the token can read it or answer a plan. */
export async function openApprovalPage(planStore: PlanStore, port = 0): Promise<ApprovalPage> {
  const token = randomBytes(24).toString('base64url');
  const server = createServer((request, response) => {
    handleRequest(request, response).catch((error: unknown) => {
      const message = messageOf(error);
      writePage(
        response,
        error instanceof ToolRefusal ? 409 : 500,
        `<p>${escapeHtml(message)}</p>`,
      );
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((error: unknown) => {
    if (isRecord(error) && error['code'] === 'EADDRINUSE') {
      const free = 'Name another one, or leave out --port for any that is free';
      throw new CommandEnd('usage', `The port ${port} is taken. ${free}.`);
    }
    throw error;
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`; // as: it listens on a port
  const url = `http://${host}/?token=${token}`;
  const redirect = await writeRedirect(url).catch((error: unknown) => ({
    problem: messageOf(error),
  }));

  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestUrl = new URL(request.url ?? '/', `http://${host}`);
    // Reject another host name: a foreign page may have pointed its name to this address (DNS rebinding).
    if (request.headers.host !== host || requestUrl.pathname !== '/') {
      writePage(response, 404, '<p>Nothing is here.</p>');
      return;
    }
    const form = request.method === 'POST' ? await readForm(request) : undefined;
    if (!isSame(form?.get('token') ?? requestUrl.searchParams.get('token') ?? '', token)) {
      const where =
        '<p>Open the whole address: it is in the file that the log of the server names.</p>';
      writePage(response, 403, where);
      return;
    }
    if (form !== undefined) {
      const decision = form.get('answer') === 'yes' ? 'yes' : 'no';
      planStore.answer(form.get('plan') ?? '', form.get('fingerprint') ?? '', decision);
      // Redirect, so that a reload of the page does not send the answer again.
      response.writeHead(303, { location: `/?token=${token}` }).end();
      return;
    }
    writePage(response, 200, renderPlans(planStore.listAsked(), token));
  }

  return {
    host,
    url,
    redirect,
    close: async () => {
      server.closeAllConnections();
      server.close();
      const removed =
        'file' in redirect && rm(dirname(redirect.file), { recursive: true, force: true });
      await Promise.all([once(server, 'close'), removed]);
    },
  };
}

async function writeRedirect(url: string): Promise<{ file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'postreel-'));
  const file = join(folder, 'approval-page.html');
  const html = `<!doctype html><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">${url}</a>\n`;
  await writeFile(file, html, { mode: 0o600 });
  return { file };
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > maxFormBytes) {
      throw new ToolRefusal('This is not an answer to a plan.');
    }
  }
  return new URLSearchParams(text);
}

function renderPlans(plans: readonly Plan[], token: string): string {
  const waiting = plans.filter(({ state }) => state === 'waiting');
  const decided = plans.filter(({ state }) => state !== 'waiting').reverse();
  const list = decided.map(
    ({ action, state, summary }) =>
      `<li>${escapeHtml(action)}: ${state === 'running' ? 'You said yes, and it is being done.' : escapeHtml(summary)}</li>`,
  );
  const nothing = '<p>No plan waits for you. This page looks again every five seconds.</p>';
  return [
    ...waiting.map((plan) => renderPlan(plan, token)),
    // Do not refresh while a person reads a plan.
    waiting.length === 0 ? `<meta http-equiv="refresh" content="5">${nothing}` : '',
    list.length > 0 ? `<ul>${list.join('')}</ul>` : '',
  ].join('');
}

function renderPlan({ id, action, facts, fingerprint }: Plan, token: string): string {
  const rows = facts
    .map(
      ({ label, text }) => `<dt>${escapeHtml(label)}</dt><dd><pre>${escapeHtml(text)}</pre></dd>`,
    )
    .join('');
  const hidden = Object.entries({ token, plan: id, fingerprint })
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`)
    .join('');
  return `<form method="post"><h2>${escapeHtml(action)}?</h2><dl>${rows}</dl>${hidden}
<p>fingerprint ${fingerprint}</p>
<button name="answer" value="no">No</button> <button name="answer" value="yes">Yes, once</button></form>`;
}

function writePage(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  response.end(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>Postreel: plans</title><style>${style}</style><h1>Plans of your agent</h1>${body}</html>`);
}

const style = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
form { border: 1px solid; border-radius: 8px; padding: 0 1rem 1rem; margin: 1rem 0 }
dt { font-weight: 600 } dd { margin: 0 } pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 .5rem }
button { font: inherit; padding: .25rem 1rem }`;

function escapeHtml(text: string): string {
  const codes: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' };
  return text.replace(/[&<>"]/g, (character) => `&${codes[character] ?? ''};`);
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
