import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { createClock, startFakeServer, type FakeServer } from 'postreel/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openBrowser } from '../../src/agents/approval.js';
import { textOf, valueOf } from '../support/agents/agent.js';
import { command, piped } from '../support/cli/command.js';
import { mail, videos } from '../support/agents/desk.js';
import { emptyFolder } from '../support/empty-folder.js';

const fastTimers = resolve('test/support/node/fast-timers.mjs');

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) {
    await close();
  }
});

/** How long a person reads a plan: some seconds of the server's time, which runs fast. */
const readingMs = 50;

/** How a client deals with questions to its person. */
type Kind = 'asks' | 'declines' | 'cancels' | 'has no handler' | 'announces none';

interface Agent {
  readonly client: Client;
  readonly folder: string;
  readonly asked: string[];
  readonly stderr: () => string;
  readonly pid: number;
  /** Ends the server's input and sends it no signal, as a client does that is gone. */
  leave(): void;
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
  /** Plans a step, and calls `carry_out` again for as long as the answer asks for it. */
  do(name: string, args: Record<string, unknown>): Promise<unknown>;
}

interface AgentOptions {
  readonly kind: Kind;
  readonly env: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly folder?: string;
}

async function openAgent({ kind, env, args = [], folder = emptyFolder() }: AgentOptions) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [command, 'mcp', ...args],
    cwd: folder,
    // A minute of its waits takes a second.
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_OPTIONS: `--import ${fastTimers}`,
      BROWSER: browserOf(folder),
      ...env,
    },
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const capabilities = kind === 'announces none' ? {} : { elicitation: {} };
  const client = new Client({ name: 'tests', version: '1' }, { capabilities });
  const asked: string[] = [];
  if (kind !== 'announces none' && kind !== 'has no handler') {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked.push(params.message);
      await new Promise((done) => setTimeout(done, readingMs));
      const action = { asks: 'accept', declines: 'decline', cancels: 'cancel' } as const;
      return { action: action[kind], ...(kind === 'asks' && { content: { approve: true } }) };
    });
  }
  await client.connect(transport);
  opened.push(() => client.close());
  // No client waits longer than a minute, and a minute of the server is a second here.
  const call = (name: string, given: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: given }, undefined, {
      timeout: 10_000,
    }) as Promise<CallToolResult>; // as: no task
  const agent: Agent = {
    client,
    folder,
    asked,
    stderr: () => stderr,
    pid: transport.pid!,
    leave: () => {
      (Reflect.get(transport, '_process') as ChildProcess).stdin?.end(); // as: the SDK's own child
    },
    call,
    do: async (name, given) => {
      const { plan } = valueOf(await call(name, given)) as { plan: string }; // as: a plan
      for (;;) {
        const answer = await call('carry_out', { plan });
        const value = valueOf(answer) as { state?: string; next?: string }; // as: the state of a plan
        if (value.next === undefined) {
          expect([name, answer.isError, textOf(answer)]).toMatchObject([name, undefined, {}]);
          return value;
        }
      }
    },
  };
  return agent;
}

/** A "browser" in which a person says yes to whatever the page shows, as long as there is a page. */
function browserOf(folder: string): string {
  const path = join(folder, '.browser.mjs');
  writeFileSync(
    path,
    `#!${process.execPath}
import { readFileSync } from 'node:fs';
if (JSON.stringify([process.argv, process.env]).match(/token=|_API_KEY/)) process.exit(1);
const [, url] = /href="([^"]+)"/.exec(readFileSync(process.argv[2], 'utf8'));
for (;;) {
  const response = await fetch(url).catch(() => process.exit(0));
  const html = await response.text();
  for (const [, form] of html.matchAll(/<form method="post">(.*?)<\\/form>/gs)) {
    const body = new URLSearchParams([...form.matchAll(/name="(\\w+)" value="([^"]*)">/g)].map(([, name, value]) => [name, value]));
    body.set('answer', 'yes');
    await fetch(new URL('/', url), { method: 'POST', body }).catch(() => process.exit(0));
  }
  await new Promise((done) => setTimeout(done, 100));
}
`,
  );
  chmodSync(path, 0o755);
  return path;
}

async function openFakes() {
  const clock = createClock({ mode: 'real', speed: 60 });
  const fake = await startFakeServer({
    messaging: { clock, rateLimit: { limit: Infinity } },
    media: { clock, rateLimit: false, durations: () => '1m' },
  });
  fake.messaging.seed({ contacts: 3, templates: 1, campaigns: 1, segments: 1, workflows: 1 });
  opened.push(() => fake.close());
  return { fake, env: envOf(fake) };
}

const envOf = ({ messaging, media }: FakeServer) => ({
  MESSAGING_BASE_URL: messaging.baseUrl,
  MESSAGING_API_KEY: messaging.secretKey,
  MEDIA_BASE_URL: media.baseUrl,
  MEDIA_API_KEY: media.apiKey,
});

/** Every tool, with an input for the fakes. */
function everyCall(fake: FakeServer) {
  const { contacts, templates, campaigns, segments, workflows } = fake.messaging.project;
  const first = (records: ReadonlyMap<string, { readonly id: string }>) =>
    [...records.values()][0]!.id;
  const [segment] = segments.values();
  segment!.type = 'STATIC';
  const draft = { name: 'News', from: 'shop@example.com', subject: 'News', body: 'Hi' };
  const reads: Record<string, Record<string, unknown>> = {
    find_contacts: { limit: 2 },
    get_contact: { id: first(contacts) },
    list_templates: {},
    get_template: { id: first(templates) },
    list_campaigns: {},
    get_campaign: { id: first(campaigns) },
    get_campaign_stats: { id: first(campaigns) },
    list_segments: {},
    list_segment_members: { id: first(segments) },
    list_workflows: {},
    get_workflow: { id: first(workflows) },
    recent_activity: {},
  };
  const plans: Record<string, Record<string, unknown>> = {
    plan_email: mail,
    plan_event: { email: 'ann@example.com', event: 'ordered' },
    plan_address_check: { email: 'ann@example.com' },
    plan_contact: { email: 'dora@example.com', subscribed: false },
    plan_import: { file: 'list.csv', newContacts: 'subscribed' },
    plan_segment_members: { id: first(segments), add: ['dora@example.com'] },
    plan_campaign: { ...draft, audienceType: 'ALL' },
    plan_campaign_step: { id: first(campaigns), step: 'test', email: 'ann@example.com' },
    plan_template: { name: 'T', subject: 'S', body: 'B', type: 'MARKETING' },
    plan_workflow_switch: { id: first(workflows), enabled: true },
    plan_audio: { content: 'Hello', voiceId: 'voice_1' },
    plan_contact_deletion: { ids: [first(contacts)] },
  };
  return { reads, plans };
}

describe('every tool can be used by a client that', () => {
  it.each(['asks', 'cancels', 'has no handler'] as const)(
    '%s',
    async (kind) => {
      const { fake, env } = await openFakes();
      const agent = await openAgent({ kind, env });
      writeFileSync(join(agent.folder, 'list.csv'), 'E-Mail\nolga@example.com\n');
      const { reads, plans } = everyCall(fake);
      const { tools } = await agent.client.listTools();
      const others = ['get_file', 'wait_for_files', 'save_file', 'plan_videos', 'carry_out'];
      expect(tools.map(({ name }) => name).sort()).toEqual(
        [...Object.keys(reads), ...Object.keys(plans), ...others].sort(),
      );
      for (const [name, args] of Object.entries(reads)) {
        const answer = await agent.call(name, args);
        expect([name, answer.isError, textOf(answer)]).toEqual([
          name,
          undefined,
          expect.anything(),
        ]);
        expect(JSON.stringify(answer)).not.toContain(fake.messaging.secretKey);
      }
      for (const [name, args] of Object.entries(plans)) {
        await agent.do(name, args);
      }
      const { fileIds } = (await agent.do('plan_videos', videos)) as { fileIds: string[] }; // as: its result
      let ended: unknown;
      do {
        ended = valueOf(await agent.call('wait_for_files', { fileIds }));
      } while (JSON.stringify(ended).includes('not finished yet'));
      expect(ended).toMatchObject({ files: [{ status: 'success' }] });
      await agent.call('get_file', { fileId: fileIds[0] });
      await agent.call('save_file', { fileId: fileIds[0], name: 'cats.mp4' });
      expect(existsSync(join(agent.folder, 'cats.mp4'))).toBe(true);
      expect(fake.messaging.outbox.map(({ to }) => to)).toEqual([
        'ann@example.com',
        'ann@example.com',
      ]);
      expect(fake.media.files).toHaveLength(2);
      expect(agent.asked.length).toBe(
        kind === 'has no handler' ? 0 : Object.keys(plans).length + 1,
      );
      expect(agent.stderr()).not.toContain('token=');
      const journal = readFileSync(join(agent.folder, 'postreel-agent.jsonl'), 'utf8');
      expect(journal).not.toMatch(/token=|<p>|@example/);
    },
    120_000,
  );
});

it('a client that declines says no for its person', async () => {
  const { fake, env } = await openFakes();
  const agent = await openAgent({ kind: 'declines', env });
  const { plan } = valueOf(await agent.call('plan_email', mail)) as { plan: string }; // as: a plan
  const answer = await agent.call('carry_out', { plan });
  expect([answer.isError, textOf(answer)]).toEqual([true, expect.stringContaining('said no')]);
  expect(agent.asked[0]).toContain('to: "ann@example.com"');
  expect(fake.messaging.outbox).toEqual([]);
});

it('--read-only and --tools leave out the other tools', async () => {
  const { env } = await openFakes();
  const kind = 'announces none';
  const reader = await openAgent({ kind, env, args: ['--read-only'] });
  const names = (await reader.client.listTools()).tools.map(({ name }) => name);
  expect(names.filter((name) => /^(plan_|save_|carry_)/.test(name))).toEqual([]);
  expect(textOf(await reader.call('plan_email', mail))).toContain('There is no tool "plan_email"');
  const args = ['--tools', 'find_contacts, plan_email'];
  const few = await openAgent({ kind, env, args });
  expect((await few.client.listTools()).tools.map(({ name }) => name).sort()).toEqual([
    'carry_out',
    'find_contacts',
    'plan_email',
  ]);
  const wrong = await piped(['mcp', '--tools', 'send_email'], { env });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('There is no tool send')]);
});

// `AGENT_KILLS=100 npx vitest …` is the long series.
const kills = Number(process.env['AGENT_KILLS'] ?? 6);

it(`a server that is killed ${kills} times carries out an approved plan at most once, reports it, and does nothing else`, async () => {
  const { fake, env } = await openFakes();
  const folder = emptyFolder();
  const told: Record<string, number> = {};
  let agent = await openAgent({ kind: 'asks', env, folder });
  for (let round = 0; round < kills; round++) {
    const subject = `mail ${round}`;
    const step = { ...mail, subject };
    const { plan } = valueOf(await agent.call('plan_email', step)) as { plan: string }; // as: a plan
    await agent.call('plan_email', { ...mail, subject: 'never said yes to' });
    const end = agent.call('carry_out', { plan }).catch(() => undefined);
    await new Promise((done) => setTimeout(done, (round * 37) % 200));
    process.kill(agent.pid, 'SIGKILL');
    await end;
    agent = await openAgent({ kind: 'asks', env, folder });
    const sent = () => fake.messaging.outbox.filter((email) => email.subject === subject).length;
    const answer = textOf(await agent.call('carry_out', { plan }));
    const what = /"state":"ended"/.test(answer)
      ? 'done'
      : (/may have happened|no such plan/.exec(answer)?.[0] ?? answer);
    told[what] = (told[what] ?? 0) + 1;
    const least = what === 'done' ? 1 : 0;
    const most = what === 'no such plan' ? 0 : 1;
    expect([what, sent()]).toEqual([what, Math.min(Math.max(sent(), least), most)]);
    const again = textOf(await agent.call('plan_email', step));
    expect(again.includes('the same step before')).toBe(what !== 'no such plan');
  }
  console.log(`told after ${kills} kills: ${JSON.stringify(told)}`);
  const subjects = fake.messaging.outbox.map((email) => email.subject);
  expect(new Set(subjects).size).toBe(subjects.length);
  expect(subjects).not.toContain('never said yes to');
}, 600_000);

describe('the answer says why the page did not open:', () => {
  afterEach(() => vi.unstubAllEnvs());
  const failing = join(emptyFolder(), 'browser.sh');
  writeFileSync(failing, '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  it.each([
    ['none', 'BROWSER is none'],
    ['/no/such/browser', 'there is no /no/such/browser'],
    [failing, `${failing} ended with 3`],
    ['true', undefined],
  ])('BROWSER=%s', async (browser, reason) => {
    vi.stubEnv('BROWSER', browser);
    expect(await openBrowser('/tmp/page.html')).toBe(reason);
  });
});

it('a rehearsal works without any key, and its emails can be read', async () => {
  const agent = await openAgent({ kind: 'asks', env: {}, args: ['--fake'] });
  await agent.do('plan_email', mail);
  const { contents } = await agent.client.readResource({ uri: 'postreel://fake/outbox' });
  expect(JSON.stringify(contents)).toContain('ann@example.com');
  const { resources } = await agent.client.listResources();
  const guides = readdirSync('docs').filter((file) => file.endsWith('.md'));
  expect(resources).toHaveLength(guides.length + 1);
  const guide = await agent.client.readResource({ uri: 'postreel://guides/errors' });
  expect(JSON.stringify(guide)).toContain(readFileSync('docs/errors.md', 'utf8').split('\n')[0]);
  const templates = valueOf(await agent.call('list_templates'));
  expect(templates).toMatchObject({ items: [{}, {}], total: 2 });
  const journal = readFileSync(join(agent.folder, 'postreel-agent.jsonl'), 'utf8');
  expect(journal).toContain('agent/rehearsal/');
  const { env } = await openFakes();
  const real = await openAgent({ kind: 'asks', env, folder: agent.folder });
  expect(textOf(await real.call('plan_email', mail))).not.toContain('the same step before');
});

describe('a server on a machine without', () => {
  it('a temporary folder starts, and a client that asks its person needs no page', async () => {
    const { fake, env } = await openFakes();
    const agent = await openAgent({ kind: 'asks', env: { ...env, TMPDIR: '/no/such/folder' } });
    await agent.do('plan_email', mail);
    expect(fake.messaging.outbox).toHaveLength(1);
    expect(agent.stderr()).toContain('Only your client can ask you');
  });

  it('a temporary folder reports it if the page is needed', async () => {
    const { env } = await openFakes();
    const kind = 'announces none';
    const agent = await openAgent({ kind, env: { ...env, TMPDIR: '/no/such/folder' } });
    const { plan } = valueOf(await agent.call('plan_email', mail)) as { plan: string }; // as: a plan
    expect(textOf(await agent.call('carry_out', { plan }))).toContain('Set TMPDIR');
  });

  it('a browser names the file of the page', async () => {
    const { env } = await openFakes();
    const kind = 'announces none';
    const agent = await openAgent({ kind, env: { ...env, BROWSER: '/no/such/browser' } });
    const { plan } = valueOf(await agent.call('plan_email', mail)) as { plan: string }; // as: a plan
    expect(textOf(await agent.call('carry_out', { plan }))).toMatch(
      /did not open in a browser \(there is no \/no\/such\/browser\).*approval-page\.html/,
    );
  });

  it.each([
    ['a temporary folder', { TMPDIR: '/no/such/folder' }],
    ['a home', { HOME: '/no/such/home' }],
    ['any service', {}],
  ])('%s answers and ends with its input', async (_, env) => {
    const { code, stdout, stderr } = await piped(['mcp'], { env, input: hello });
    expect([code, stderr]).toEqual([0, expect.stringContaining('your client')]);
    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({ id: 1, result: {} });
  });

  it('a writable folder does nothing, and reports it', async () => {
    const { fake, env } = await openFakes();
    const args = ['--folder', '/sys'];
    const agent = await openAgent({ kind: 'asks', env, args });
    const { plan } = valueOf(await agent.call('plan_email', mail)) as { plan: string }; // as: a plan
    const answer = await agent.call('carry_out', { plan });
    expect([answer.isError, textOf(answer)]).toEqual([
      true,
      expect.stringContaining('The journal cannot be written, so nothing was done'),
    ]);
    expect(fake.messaging.outbox).toEqual([]);
  });
});

/** How a client begins. */
const hello = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'tests', version: '1' },
  },
})}\n`;

describe('a server whose client leaves', () => {
  async function leftDuring(slow: Parameters<FakeServer['messaging']['fail']>[1]) {
    const { fake, env } = await openFakes();
    const folder = emptyFolder();
    const agent = await openAgent({ kind: 'asks', env, folder });
    const plans: string[] = [];
    for (const subject of ['first', 'second']) {
      const answer = valueOf(await agent.call('plan_email', { ...mail, subject }));
      plans.push((answer as { plan: string }).plan); // as: a plan
    }
    fake.messaging.fail('POST /v1/send', slow);
    const ends = plans.map((plan) => agent.call('carry_out', { plan }).catch(() => undefined));
    const isAsked = () => fake.messaging.requests.some(({ path }) => path === '/v1/send');
    await vi.waitUntil(isAsked, { timeout: 60_000 });
    const pid = agent.pid;
    agent.leave();
    await vi.waitUntil(() => !isAlive(pid), { timeout: 100_000 });
    await Promise.all(ends);
    const next = await openAgent({ kind: 'asks', env, folder });
    const told = plans.map(async (plan) => textOf(await next.call('carry_out', { plan })));
    return { fake, told: await Promise.all(told) };
  }

  it('waits for the request in flight, writes its end down, and starts no further step', async () => {
    const { fake, told } = await leftDuring({ slow: 60_000 });
    expect(told).toEqual([
      expect.stringContaining('"state":"ended"'),
      expect.stringContaining('There is no such plan'),
    ]);
    expect(fake.messaging.outbox.map(({ subject }) => subject)).toEqual(['first']);
  });

  it('ends where a service does not answer, and the plan stays in the journal as interrupted', async () => {
    const { told } = await leftDuring({ slow: 3_600_000 });
    expect(told).toEqual([
      expect.stringContaining('its result was not recorded'),
      expect.stringContaining('There is no such plan'),
    ]);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('names the command line that installs the missing package', () => {
  const files = readdirSync(dirname(command)).filter((name) => name.endsWith('.js'));
  const chunks = files.map((name) => readFileSync(join(dirname(command), name), 'utf8'));
  const line = 'npx -p postreel -p @modelcontextprotocol/sdk postreel mcp';
  const naming = chunks.filter((text) => text.includes(line));
  expect(naming).toHaveLength(1);
  expect(naming[0]).not.toMatch(/^import .*@modelcontextprotocol/m);
});
