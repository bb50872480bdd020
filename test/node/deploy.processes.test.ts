import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MessagingClient } from 'postreel';
import { fileWorkflowState } from 'postreel/node';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onboarding } from '../support/messaging/onboarding.js';
import { bundled } from '../support/node/bundled.js';

/** `DEPLOY_KILLS=all` kills at every request and write; otherwise at each thirteenth one. */
const stride = process.env['DEPLOY_KILLS'] === 'all' ? 1 : 13;

let child: Awaited<ReturnType<typeof bundled>>;
beforeAll(async () => {
  child = await bundled('test/support/node/deploy-child.ts');
});
afterAll(() => child.remove());

// Mostly waits: for a process to start, and before a deployment checks a second time.
it.concurrent.each([
  ['before', undefined],
  ['after', undefined],
  ['after', 'POST /workflows'],
  ['after', 'POST /workflows/{id}/steps'],
  ['after', 'POST /workflows/{id}/transitions'],
] as const)(
  'finishes a deployment that SIGKILL ended %s a step, with a lost answer of %s, nothing twice',
  async (moment, lost) => {
    let kills = 0;
    for (let at = 1; ; at += stride) {
      const end = await dieAt(at, moment, lost);
      if (end === 'deployed') {
        break;
      }
      kills += 1;
    }
    console.log(`${kills} kills ${moment} a step, lost answers: ${lost ?? 'none'}`);
    expect(kills * stride).toBeGreaterThan(40);
  },
  400_000,
);

/** Kills a deployment at its n-th operation, then deploys again and checks what is live. */
async function dieAt(at: number, moment: string, lost: string | undefined) {
  const server = await startFakeServer();
  const { messaging: fake, messagingUrl: baseUrl } = server;
  const path = `${child.folder}/state-${moment}-${at}-${lost?.length ?? 0}.json`;
  try {
    if (lost !== undefined) {
      fake.fail(lost, { loseAnswer: true });
    }
    const end = await runChild(server, [path, String(at), moment]);
    expect(end.signal ?? end.output, end.output).toMatch(/^SIGKILL$|^deployed$/);
    const client = new MessagingClient({ apiKey: fake.secretKey, baseUrl, rateLimit: false });
    const state = fileWorkflowState(path);
    await client.workflows.deploy(onboarding, { state });
    expect(shapeOf(server), `killed ${moment} ${at}`).toEqual({
      workflows: 1,
      enabled: true,
      steps: Object.keys(onboarding.steps).sort(),
      transitions: 7,
    });
    const requests = fake.requests.length;
    expect((await client.workflows.deploy(onboarding, { state })).operations).toEqual([]);
    const changes = fake.requests.slice(requests).filter(({ method }) => method !== 'GET');
    expect(changes).toEqual([]);
    return end.signal === 'SIGKILL' ? 'killed' : 'deployed';
  } finally {
    await server.close();
  }
}

function shapeOf({ messaging }: FakeServer) {
  const workflows = [...messaging.project.workflows.values()];
  const [live] = workflows;
  return {
    workflows: workflows.length,
    enabled: live?.enabled,
    steps: [...(live?.steps.values() ?? [])].map(({ name }) => name).sort(),
    transitions: live?.transitions.size,
  };
}

async function runChild({ messaging, messagingUrl }: FakeServer, args: string[]) {
  const own = { MESSAGING_BASE_URL: messagingUrl, MESSAGING_API_KEY: messaging.secretKey };
  const run = spawn(process.execPath, [child.path, ...args], { env: { ...process.env, ...own } });
  let output = '';
  for (const stream of [run.stdout, run.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [, signal] = (await once(run, 'close')) as [number | null, string | null]; // of any process
  return { signal, output: output.trim() };
}
