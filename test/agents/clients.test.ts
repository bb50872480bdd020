import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hostAnswerMs, unansweredMs } from '../../src/agents/approval.js';
import { patienceMs } from '../../src/agents/files.js';
import { openAgent, page, textOf, valueOf, type Elicits } from '../support/agents/agent.js';
import { calm, mail, openPlanScene, videos } from '../support/agents/desk.js';

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
});
afterEach(() => vi.useRealTimers());

const accepted = { action: 'accept', content: { approve: true } } as const;
const declined = { action: 'decline' } as const;
const takenBack = { action: 'accept', content: { approve: false } } as const;

/** An answer that comes after that time. */
const after =
  (ms: number, answer: ElicitResult): Elicits =>
  () =>
    new Promise((resolve) => setTimeout(() => resolve(answer), ms));
const accept = after(2_000, accepted);
const decline = after(2_000, declined);
const cancel: Elicits = () => ({ action: 'cancel' });
const silent: Elicits = () => new Promise(() => undefined);
const failing: Elicits = () => Promise.reject(new Error('No window.'));
const emptyHanded: Elicits = () => ({ action: 'accept', content: {} });

/** The end of a call whose waits take as long as they may. */
async function inTime<T>(call: Promise<T>, ms = patienceMs): Promise<T> {
  call.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(ms);
  return call;
}

describe('a client that asks its person', () => {
  it.each([
    ['a yes', accept, 1],
    ['a no', decline, 0],
    ['a yes that is taken back', after(2_000, takenBack), 0],
    ['a yes after the time that a host needs', after(hostAnswerMs, accepted), 1],
    ['a no after the time that a host needs', after(hostAnswerMs, declined), 0],
  ])('decides the plan: %s', async (_, elicits, sent) => {
    const scene = openPlanScene();
    const agent = await openAgent(scene, elicits);
    const plan = await agent.plan('plan_email', mail);
    const answer = await inTime(agent.call('carry_out', { plan }), 2_000);
    expect(answer.isError === true).toBe(sent === 0);
    expect(scene.messaging.outbox).toHaveLength(sent);
    expect(agent.opened).toEqual([]);
  });
});

describe('a client that announces elicitation and', () => {
  it.each([
    ['cancels them', cancel],
    ['fails at them', failing],
    ['has nothing that handles them', 'not handled'],
    ['accepts without an answer', emptyHanded],
    ['announces none after all', undefined],
    ['accepts before a person can have read them', after(hostAnswerMs - 1, accepted)],
    ['declines before a person can have read them', after(hostAnswerMs - 1, declined)],
    ['declines at once', () => declined],
    ['takes a yes back at once', () => takenBack],
  ] as const)('%s: the page opens, and a yes on it carries the plan out', async (_, elicits) => {
    const scene = openPlanScene();
    const agent = await openAgent(scene, elicits);
    const plan = await agent.plan('plan_email', mail);
    const waiting = await inTime(agent.call('carry_out', { plan }));
    expect(valueOf(waiting)).toMatchObject({ state: 'waiting' });
    expect(textOf(waiting)).toContain(page.host);
    expect(agent.opened).toEqual([page.redirect.file]);
    const again = agent.call('carry_out', { plan });
    await vi.advanceTimersByTimeAsync(1000);
    const [asked] = agent.planStore.listAsked();
    agent.planStore.answer(plan, asked!.fingerprint, 'yes');
    expect(valueOf(await again)).toMatchObject({ emails: [{}] });
    expect(agent.opened).toEqual([page.redirect.file]);
    expect(scene.messaging.outbox).toHaveLength(1);
  });

  it('never answers: the page opens too, and either answer counts', async () => {
    const scene = openPlanScene();
    const cancelled = vi.fn();
    const agent = await openAgent(scene, silent);
    agent.client.fallbackNotificationHandler = () => Promise.resolve(cancelled());
    const plan = await agent.plan('plan_email', mail);
    const call = agent.call('carry_out', { plan });
    await vi.advanceTimersByTimeAsync(unansweredMs - 1);
    expect(agent.opened).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(agent.opened).toEqual([page.redirect.file]);
    const [asked] = agent.planStore.listAsked();
    agent.planStore.answer(plan, asked!.fingerprint, 'yes');
    expect(valueOf(await call)).toMatchObject({ emails: [{}] });
  });
});

describe('the page of a server', () => {
  it('opens by itself once: later answers name its file, and a yes on it still counts', async () => {
    const scene = openPlanScene();
    const agent = await openAgent(scene, cancel);
    const plans = [await agent.plan('plan_email', mail), await agent.plan('plan_videos', videos)];
    const answers: string[] = [];
    for (const plan of [...plans, plans[0]]) {
      answers.push(textOf(await inTime(agent.call('carry_out', { plan }))));
    }
    expect(agent.opened).toEqual([page.redirect.file]);
    const again = `which was opened in their browser before: if it is closed, tell them to open the file ${page.redirect.file}`;
    expect(answers.map((answer) => answer.includes(again))).toEqual([false, true, false]);
    expect(answers[0]).toContain(`${page.host}, which opens in their browser`);
    for (const { id, fingerprint } of agent.planStore.listAsked()) {
      agent.planStore.answer(id, fingerprint, 'yes');
    }
    await agent.planStore.waitUntilIdle();
    expect([scene.messaging.outbox.length, scene.media.files.length]).toEqual([1, 1]);
  });

  it('that does not open is named by its file, with the reason', async () => {
    const agent = await openAgent(openPlanScene(), cancel, { noBrowser: 'there is no xdg-open' });
    const tools = [['plan_email', mail] as const, ['plan_videos', videos] as const];
    for (const [tool, input] of tools) {
      const plan = await agent.plan(tool, input);
      const answer = textOf(await inTime(agent.call('carry_out', { plan })));
      expect(answer).toContain(
        `did not open in a browser (there is no xdg-open): tell them to open the file ${page.redirect.file}`,
      );
    }
    expect(agent.opened).toHaveLength(1);
  });

  it('without a file is not offered: the answer names the variable to set', async () => {
    const agent = await openAgent(openPlanScene(), cancel, { noFile: 'EROFS' });
    const plan = await agent.plan('plan_email', mail);
    const answer = textOf(await inTime(agent.call('carry_out', { plan })));
    expect(answer).toContain('without a temporary file (EROFS). Set TMPDIR');
    expect(agent.opened).toEqual([]);
  });
});

describe('a server that stops while a person is asked', () => {
  it('opens no page', async () => {
    const scene = openPlanScene();
    const agent = await openAgent(scene, silent);
    const plan = await agent.plan('plan_email', mail);
    const call = agent.call('carry_out', { plan });
    call.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(1000);
    await agent.stop();
    await expect(call).rejects.toThrow('closed');
    await vi.advanceTimersByTimeAsync(unansweredMs);
    expect(agent.opened).toEqual([]);
  });

  it('waits for nobody', async () => {
    const scene = openPlanScene();
    const agent = await openAgent(scene, silent);
    const plan = await agent.plan('plan_email', mail);
    const call = agent.planStore.carryOut(plan, () => () => 'nowhere', calm());
    await agent.stop();
    expect(await call).toMatchObject({ plan, state: 'waiting' });
  });
});

describe('a client with a time limit', () => {
  it('gives up while its person thinks: the late yes carries the plan out, and is reported', async () => {
    const scene = openPlanScene();
    let answer: (said: { action: 'accept'; content: { approve: boolean } }) => void = () =>
      undefined;
    const agent = await openAgent(
      scene,
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const plan = await agent.plan('plan_email', mail);
    await expect(inTime(agent.call('carry_out', { plan }, 10_000), 10_000)).rejects.toThrow(
      'timed out',
    );
    answer({ action: 'accept', content: { approve: true } });
    await expect.poll(() => scene.messaging.outbox).toHaveLength(1);
    await agent.planStore.waitUntilIdle();
    const carriedOut: unknown = expect.stringContaining(`${plan} (Send 1 email) was`);
    await expect.poll(() => agent.logged).toContainEqual(carriedOut);
    expect(valueOf(await agent.call('find_contacts'))).toMatchObject({
      news: [expect.stringContaining('was carried out')],
      answer: { items: [{}, {}, {}, {}] },
    });
    expect(valueOf(await agent.call('carry_out', { plan }))).toMatchObject({ emails: [{}] });
    expect(scene.messaging.outbox).toHaveLength(1);
  });

  it('gives up while the email is sent: it is sent once, and the next plan names it', async () => {
    const scene = openPlanScene();
    const agent = await openAgent(scene, accept);
    const plan = await agent.plan('plan_email', mail);
    scene.messaging.fail('POST /v1/send', { slow: 20_000 });
    const call = agent.call('carry_out', { plan }, 2_001);
    await expect(inTime(call, 2_005)).rejects.toThrow('timed out');
    await agent.planStore.waitUntilIdle();
    const next = await agent.call('plan_email', mail);
    expect(textOf(next)).toContain('the same step before: | ');
    expect(textOf(next)).toContain(': carried out (');
    expect(scene.messaging.outbox).toHaveLength(1);
  });

  it('of a minute gets an answer from every tool before it is over', async () => {
    const scene = openPlanScene();
    const agent = await openAgent(scene, silent);
    const { fileId } = scene.media.files[0] ?? { fileId: 'file_unknown' };
    const plan = await agent.plan('plan_videos', videos);
    for (const [tool, args] of [
      ['carry_out', { plan }],
      ['wait_for_files', { fileIds: [fileId] }],
    ] as const) {
      await expect(inTime(agent.call(tool, args), 59_000)).resolves.toBeDefined();
    }
  });
});

describe('every wait reports itself every five seconds:', () => {
  it.each([
    ['by progress', true],
    ['in the log, where the client follows no progress', false],
  ])('%s', async (_, follows) => {
    const scene = openPlanScene();
    const agent = await openAgent(scene, silent);
    const plan = await agent.plan('plan_email', mail);
    const told: unknown[] = [];
    const call = agent.client.callTool(
      { name: 'carry_out', arguments: { plan } },
      undefined,
      follows
        ? { onprogress: ({ progress, message }) => told.push([progress, message]), timeout: 60_000 }
        : {},
    );
    await inTime(call);
    const heard = follows ? told : agent.logged;
    expect(heard.length).toBeGreaterThanOrEqual(8);
    expect(JSON.stringify(heard)).toContain('waiting for a person');
    if (follows) {
      const counts = told.map((each) => (each as [number])[0]); // as: pushed above
      expect(counts).toEqual([...counts].sort((one, other) => one - other));
      expect(new Set(counts).size).toBe(counts.length);
      expect(agent.logged).toEqual([]);
    }
  });
});

it('the token of the page is in no answer, log or notice', async () => {
  const scene = openPlanScene();
  const agent = await openAgent(scene, cancel);
  const plan = await agent.plan('plan_email', mail);
  const told: unknown[] = [];
  const call = agent.client.callTool({ name: 'carry_out', arguments: { plan } }, undefined, {
    onprogress: (notice) => told.push(notice),
  });
  const answer = await inTime(call);
  const again = await inTime(agent.call('carry_out', { plan }));
  expect(agent.opened).toEqual([page.redirect.file]);
  expect(JSON.stringify([answer, again, told, agent.logged])).not.toContain('secret-token');
});
