import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import {
  createClock,
  mediaBehaviors,
  messagingBehaviors,
  startFakeServer,
  type FakeServer,
} from 'postreel/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { command } from '../../support/cli/command.js';
import { emptyFolder } from '../../support/empty-folder.js';
import { mail, videos } from '../../support/cli/desk.js';
import { nameOf, randomWorlds } from '../../support/worlds/worlds.js';

const fastTimers = resolve('test/support/node/fast-timers.mjs');

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) {
    await close();
  }
});

type Answer = 'yes' | 'no' | 'cannot ask';

interface Agent {
  readonly client: Client;
  readonly folder: string;
  readonly asked: string[];
  readonly stderr: () => string;
  readonly pid: number;
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
  plan(name: string, args: Record<string, unknown>): Promise<string>;
}

async function openAgent(answer: Answer, env: Record<string, string>, args: string[] = []) {
  const folder = emptyFolder();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [command, 'mcp', ...args],
    cwd: folder,
    // A minute of its waits takes a second.
    env: { PATH: process.env['PATH'] ?? '', NODE_OPTIONS: `--import ${fastTimers}`, ...env },
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const capabilities = answer === 'cannot ask' ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: 'tests', version: '1' }, { capabilities });
  const asked: string[] = [];
  if (answer !== 'cannot ask') {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { approve: answer === 'yes' } };
    });
  }
  await client.connect(transport);
  opened.push(() => client.close());
  const call = (name: string, given: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: given }).catch((error: unknown) => {
      throw new Error(`${name} is not answered`, { cause: error });
    }) as Promise<CallToolResult>; // as: no task
  const agent: Agent = {
    client,
    folder,
    asked,
    stderr: () => stderr,
    pid: transport.pid!,
    call,
    plan: async (name, given) => {
      const { structuredContent, content } = await call(name, given);
      const result = structuredContent?.['result'] as { plan: string } | undefined; // as: a plan
      expect(result, JSON.stringify(content)).toBeDefined();
      return result!.plan;
    },
  };
  return agent;
}

async function openFakes({ messaging, media }: { messaging?: object; media?: object } = {}) {
  const clock = createClock({ mode: 'real', speed: 60 });
  const fake = await startFakeServer({
    messaging: { clock, rateLimit: { limit: Infinity }, ...(messaging && { behavior: messaging }) },
    media: { clock, rateLimit: false, ...(media && { behavior: media }), durations: () => '1m' },
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

const textOf = ({ content }: CallToolResult) => (content[0] as { text: string }).text; // as: all are texts

/** Every tool, with an input for the fakes. */
function everyCall(fake: FakeServer): Record<string, Record<string, unknown>> {
  const { contacts, templates, campaigns, segments, workflows } = fake.messaging.project;
  const first = (records: ReadonlyMap<string, { readonly id: string }>) =>
    [...records.values()][0]!.id;
  const draft = { name: 'News', from: 'shop@example.com', subject: 'News', body: 'Hi' };
  return {
    find_contacts: { limit: 2 },
    get_contact: { contact: first(contacts) },
    list_templates: {},
    get_template: { id: first(templates) },
    list_campaigns: {},
    get_campaign: { id: first(campaigns) },
    list_segments: {},
    list_segment_members: { id: first(segments) },
    list_workflows: {},
    get_workflow: { id: first(workflows) },
    recent_activity: {},
    plan_email: mail,
    plan_event: { email: 'ann@example.com', event: 'ordered' },
    plan_address_check: { email: 'ann@example.com' },
    plan_contact: { email: 'dora@example.com', subscribed: false },
    plan_contact_deletion: { ids: [first(contacts)] },
    plan_import: { file: 'list.csv' },
    plan_segment_members: { id: first(segments), add: ['dora@example.com'] },
    plan_campaign: { ...draft, audienceType: 'ALL' },
    plan_campaign_step: { id: first(campaigns), step: 'test', email: 'ann@example.com' },
    plan_template: { name: 'T', subject: 'S', body: 'B', type: 'MARKETING' },
    plan_workflow_switch: { id: first(workflows), enabled: true },
    plan_videos: videos,
    plan_audio: { content: 'Hello', voiceId: 'voice_1' },
  };
}

const worlds = randomWorlds(messagingBehaviors, 10, 1).map((messaging, index) => ({
  messaging,
  media: randomWorlds(mediaBehaviors, 10, 2)[index]!,
}));

describe('the client of the protocol drives every tool', () => {
  it.each(worlds.map((world) => [`${nameOf(world.messaging).slice(0, 60)} …`, world]))(
    'in the world %s',
    async (_, world) => {
      const { fake, env } = await openFakes(world);
      const agent = await openAgent('yes', env);
      writeFileSync(join(agent.folder, 'list.csv'), 'email\nolga@example.com\n');
      const calls = everyCall(fake);
      const { tools } = await agent.client.listTools();
      const driven = [
        ...Object.keys(calls),
        'get_files',
        'wait_for_files',
        'save_file',
        'carry_out',
      ];
      expect(tools.map(({ name }) => name).sort()).toEqual(driven.sort());
      for (const [name, args] of Object.entries(calls)) {
        const answer = await agent.call(name, args);
        expect([name, answer.isError, textOf(answer)]).toEqual([
          name,
          undefined,
          expect.anything(),
        ]);
        expect(JSON.stringify(answer)).not.toContain(fake.messaging.secretKey);
      }
      const id = await agent.plan('plan_videos', videos);
      const made = await agent.call('carry_out', { plan: id });
      const { fileIds } = made.structuredContent?.['result'] as { fileIds: string[] }; // as: its result
      const progress: number[] = [];
      const wait = { name: 'wait_for_files', arguments: { fileIds, minutes: 10 } };
      const ended = await agent.client.callTool(wait, undefined, {
        timeout: 60_000,
        onprogress: ({ progress: done }) => progress.push(done),
      });
      expect(progress[0], JSON.stringify(ended)).toBe(0);
      // Some worlds have forgotten a finished file by now; it can be saved all the same.
      await agent.call('get_files', { fileIds });
      const saved = await agent.call('save_file', { fileId: fileIds[0], name: 'cats.mp4' });
      expect(textOf(saved)).toContain('cats.mp4');
      expect(existsSync(join(agent.folder, 'cats.mp4'))).toBe(true);
      expect(fake.messaging.outbox).toEqual([]);
    },
    120_000,
  );
});

describe('a person', () => {
  it('is asked by their client, and a no is a no', async () => {
    const { fake, env } = await openFakes();
    const agent = await openAgent('no', env);
    const answer = await agent.call('carry_out', { plan: await agent.plan('plan_email', mail) });
    expect([answer.isError, textOf(answer)]).toEqual([true, expect.stringContaining('said no')]);
    expect(agent.asked[0]).toContain('to: "ann@example.com"');
    expect(fake.messaging.outbox).toEqual([]);
  });

  it('says yes on the page where the client cannot ask; the model never sees its token', async () => {
    const { fake, env } = await openFakes();
    const agent = await openAgent('cannot ask', env);
    const plan = await agent.plan('plan_email', mail);
    const refused = await agent.call('carry_out', { plan });
    expect(refused.isError).toBe(true);
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/.exec(agent.stderr()) ?? [];
    const token = new URL(url).searchParams.get('token') ?? '';
    expect(JSON.stringify(refused)).not.toContain(token);
    const html = await (await fetch(url)).text();
    const [, fingerprint = ''] = /name="fingerprint" value="(\w+)"/.exec(html) ?? [];
    const body = new URLSearchParams({ token, plan, fingerprint, answer: 'yes' });
    await fetch(new URL('/', url), { method: 'POST', body });
    expect((await agent.call('carry_out', { plan })).isError).toBeUndefined();
    expect(fake.messaging.outbox).toHaveLength(1);
  });
});

// `AGENT_KILLS=100 npx vitest …` is the long series.
const kills = Number(process.env['AGENT_KILLS'] ?? 8);

it(`a server that is killed ${kills} times does nothing twice, and nothing without a yes`, async () => {
  const { fake, env } = await openFakes();
  const approved = new Set<string>();
  for (let round = 0; round < kills; round++) {
    const agent = await openAgent('yes', env);
    const subject = `mail ${round}`;
    const plan = await agent.plan('plan_email', { ...mail, subject });
    await agent.plan('plan_email', { ...mail, subject: 'never said yes to' });
    const end = agent.call('carry_out', { plan }).then(
      () => true,
      () => false,
    );
    if (round % 2 === 0) {
      await end;
    }
    process.kill(agent.pid, 'SIGKILL');
    await end;
    approved.add(subject);
    const next = await openAgent('yes', env);
    expect((await next.call('carry_out', { plan })).isError).toBe(true);
    await next.client.close();
  }
  const subjects = fake.messaging.outbox.map((sent) => sent.subject);
  expect(new Set(subjects).size).toBe(subjects.length);
  expect(subjects.filter((subject) => !approved.has(subject))).toEqual([]);
}, 600_000);

it('a rehearsal works without any key, and its emails can be read', async () => {
  const agent = await openAgent('yes', {}, ['--fake']);
  await agent.call('carry_out', { plan: await agent.plan('plan_email', mail) });
  const { contents } = await agent.client.readResource({ uri: 'postreel://fake/outbox' });
  expect(JSON.stringify(contents)).toContain('ann@example.com');
  const { resources } = await agent.client.listResources();
  const guides = readdirSync('docs').filter((file) => file.endsWith('.md'));
  expect(resources).toHaveLength(guides.length + 1);
  const guide = await agent.client.readResource({ uri: 'postreel://guides/errors' });
  expect(JSON.stringify(guide)).toContain(readFileSync('docs/errors.md', 'utf8').split('\n')[0]);
});

it('names the command line that brings the package it needs', () => {
  const chunk = readFileSync(command, 'utf8');
  expect(chunk).toContain('npx -p postreel -p @modelcontextprotocol/sdk postreel mcp');
  expect(chunk).not.toMatch(/^import .*@modelcontextprotocol/m);
});
