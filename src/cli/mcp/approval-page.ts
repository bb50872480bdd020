import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Approver } from './approval.js';
import type { Plan, Plans } from './plans.js';
import { Refusal } from './refusal.js';
import { messageOf } from '../../core/errors.js';

/** A page on this machine where a person says yes or no to plans. */
export interface ApprovalPage extends Approver {
  /** With the token: for the terminal of the person, never for the model. */
  readonly url: string;
  close(): Promise<void>;
}

const maxFormBytes = 2000;

/** Opens the page on a free port of 127.0.0.1. Only who has the token can read or answer it. */
export async function openApprovalPage(plans: Plans): Promise<ApprovalPage> {
  const token = randomBytes(24).toString('base64url');
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const message = messageOf(error);
      write(response, error instanceof Refusal ? 409 : 500, `<p>${escaped(message)}</p>`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // as: it listens on a port
  const origin = `http://127.0.0.1:${port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', origin);
    // Another name for this address is a page elsewhere that had its name changed to it.
    if (request.headers.host !== `127.0.0.1:${port}` || url.pathname !== '/') {
      write(response, 404, '<p>Nothing is here.</p>');
      return;
    }
    const form = request.method === 'POST' ? await readForm(request) : undefined;
    if (!isSame(form?.get('token') ?? url.searchParams.get('token') ?? '', token)) {
      write(response, 403, '<p>Open the address that the terminal shows.</p>');
      return;
    }
    if (form !== undefined) {
      decide(plans, form);
    }
    write(response, 200, plansAsHtml(plans.waiting(), token));
  }

  return {
    url: `${origin}/?token=${token}`,
    ask: () => Promise.resolve('later'),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function decide(plans: Plans, form: URLSearchParams): void {
  const id = form.get('plan') ?? '';
  if (form.get('answer') === 'yes') {
    plans.approve(id, form.get('fingerprint') ?? '');
  } else {
    plans.drop(id);
  }
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > maxFormBytes) {
      throw new Refusal('This is no answer to a plan.');
    }
  }
  return new URLSearchParams(text);
}

function plansAsHtml(plans: readonly Plan[], token: string): string {
  if (plans.length === 0) {
    return '<p>No plan waits for you. Reload this page when your agent has made one.</p>';
  }
  return plans.map((plan) => planAsHtml(plan, token)).join('');
}

function planAsHtml({ id, action, facts, fingerprint }: Plan, token: string): string {
  const rows = facts
    .map(({ label, text }) => `<dt>${escaped(label)}</dt><dd><pre>${escaped(text)}</pre></dd>`)
    .join('');
  const hidden = Object.entries({ token, plan: id, fingerprint })
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`)
    .join('');
  return `<form method="post"><h2>${escaped(action)}?</h2><dl>${rows}</dl>${hidden}
<p>fingerprint ${fingerprint}</p>
<button name="answer" value="no">No</button> <button name="answer" value="yes">Yes, once</button></form>`;
}

function write(response: ServerResponse, status: number, body: string): void {
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

function escaped(text: string): string {
  const codes: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' };
  return text.replace(/[&<>"]/g, (character) => `&${codes[character] ?? ''};`);
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
