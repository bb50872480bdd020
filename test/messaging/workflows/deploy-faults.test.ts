import {
  isPostreelError,
  MessagingClient,
  type DeployOptions,
  type MessagingOptions,
} from 'postreel';
import { createFakeMessaging, type Fault, type FakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { idsOn, welcome } from '../../support/messaging/welcome.js';

const clientOf = (fake: FakeMessaging, options: MessagingOptions = {}) =>
  new MessagingClient({ ...fake.options, rateLimit: false, ...options });

/** A project where one version runs, and is about to get another one. */
async function running(behavior = {}) {
  const fake = createFakeMessaging({ behavior });
  const { workflowId = '' } = await clientOf(fake).workflows.deploy(welcome('One'), {
    enable: true,
  });
  return { fake, first: workflowId };
}

/** After a deployment that went wrong: the next one leaves its own version on, and nothing half done. */
async function goesOn(fake: FakeMessaging, subject: string): Promise<void> {
  const enable = true;
  const next = await clientOf(fake).workflows.deploy(welcome(subject), { enable });
  expect(idsOn(fake)).toEqual([next.workflowId]);
  const names = [...fake.project.workflows.values()].map(({ name }) => name);
  expect(names.filter((name) => name.includes('switching'))).toEqual([]);
  expect(fake.project.workflows.get(next.workflowId ?? '')?.name).toBe(next.name);
  const again = await clientOf(fake).workflows.deploy(welcome(subject), { enable });
  expect(again).toMatchObject({ workflowId: next.workflowId, operations: [] });
}

/** Is what an error says about the versions that are on true? */
function expectHonest(failure: unknown, fake: FakeMessaging): void {
  const { code, details, message } = failure as MessagedError;
  if (code === 'DEPLOY_FAILED' || code === 'DEPLOY_INCOMPLETE') {
    expect(details.on === undefined ? idsOn(fake) : details.on).toEqual(idsOn(fake));
    const said = details.on?.[0] ?? 'It is unknown which version is on';
    expect(message).toContain(details.on?.length === 0 ? 'No version is on' : said);
  } else {
    expect(isPostreelError(failure), String(failure)).toBe(true);
    expect(idsOn(fake)).toHaveLength(1);
  }
}

interface MessagedError {
  readonly code: string;
  readonly message: string;
  readonly details: { readonly on: string[] | undefined; readonly remains: string[] };
}

/** An unknown outcome without an effect, one with its effect, and a rejection. */
const faults: [string, Fault][] = [
  ['a connection that is lost before', { drop: true }],
  ['a connection that is lost after', { loseAnswer: true }],
  ['409', { status: 409 }],
];
/** For the deployment, these two have the same outcome and effect as one of the first two. */
const alike: [string, Fault][] = [
  ['an answer that is cut', { truncate: true }],
  ['500', { status: 500 }],
];

/** Runs deployments, each with its trouble at another call, until one has no trouble any more. */
async function eachCall(run: (at: number) => Promise<'struck' | 'passed'>): Promise<number> {
  for (let at = 0; ; at += 1) {
    if ((await run(at)) === 'passed') {
      return at;
    }
    expect(at).toBeLessThan(60);
  }
}

describe('a fault at each call of a deployment', () => {
  const cases = [
    ...[...faults, ...alike].map(([name, fault]) => [name, 1, 0, fault] as const),
    ...faults.map(([name, fault]) => [name, Infinity, 0, fault] as const),
    ...faults.map(([name, fault]) => [name, 3, 2, fault] as const),
  ];
  it.each(cases)(
    'leaves one version on or reports which: %s, %d times, with %d retries',
    async (_, times, retries, fault) => {
      const count = await eachCall(async (at) => {
        const { fake, first } = await running();
        const before = fake.requests.length;
        const endFault = fake.fail('*', { ...fault, after: at, times });
        const client = clientOf(fake, { retries });
        const end = await client.workflows.deploy(welcome('Two'), { enable: true }).then(
          ({ workflowId }) => ({ workflowId }),
          (failure: unknown) => ({ failure }),
        );
        const struck = fake.requests.length - before > at;
        endFault();
        if ('failure' in end) {
          expectHonest(end.failure, fake);
        } else {
          expect(idsOn(fake)).toEqual([end.workflowId]);
        }
        if (times === 1 && 'failure' in end) {
          expect(idsOn(fake)).toHaveLength(1);
          const isTakenBack = (end.failure as MessagedError).code === 'DEPLOY_FAILED';
          expect(isTakenBack ? idsOn(fake) : [first]).toEqual([first]);
        }
        await goesOn(fake, at % 2 === 0 ? 'Two' : 'One');
        return struck ? 'struck' : 'passed';
      });
      expect(count).toBeGreaterThan(10);
    },
    120_000,
  );
});

it('a version that could not be enabled stays off, and no later deployment enables it by itself', async () => {
  const fake = createFakeMessaging();
  const { workflows } = clientOf(fake, { retries: 0 });
  await workflows.deploy(welcome('One'));
  fake.fail('PATCH /workflows/{id}', { status: 500, after: 1 });
  const call = workflows.deploy(welcome('One'), { enable: true });
  await expect(call).rejects.toMatchObject({
    code: 'DEPLOY_FAILED',
    status: 500,
    details: { on: [], remains: [] },
  });
  const { name } = await workflows.deploy(welcome('One'));
  expect([...fake.project.workflows.values()]).toMatchObject([{ name, enabled: false }]);
});

it('a failed switch does not enable the old version if another deployer has enabled a third one', async () => {
  const { fake, first } = await running();
  const third = (await clientOf(fake).workflows.deploy(welcome('Three'))).workflowId ?? '';
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const isEnabling = init?.method === 'PATCH' && init.body === '{"enabled":true}';
    if (isEnabling && !idsOn(fake).includes(third)) {
      await clientOf(fake).workflows.update(third, { enabled: true });
      return Response.json({ error: 'busy' }, { status: 500 });
    }
    return fake.fetch(input, init);
  };
  const call = clientOf(fake, { fetch, retries: 0 }).workflows.deploy(welcome('Two'), {
    enable: true,
  });
  await expect(call).rejects.toMatchObject({ details: { on: [third] } });
  expect(idsOn(fake)).toEqual([third]);
  expect(fake.project.workflows.get(first)?.enabled).toBe(false);
});

describe('a kill at each call of a deployment', () => {
  const settings: [string, DeployOptions, object][] = [
    ['a switch', { enable: true }, {}],
    ['a switch with pruning', { enable: true, prune: true }, {}],
    ['a version that stays off', {}, {}],
    ['a service with a trigger step', { enable: true }, { workflowStart: 'trigger-step' }],
  ];
  const cases = settings.flatMap(([name, options, behavior]) =>
    (['before', 'after'] as const).map((moment) => [moment, name, options, behavior] as const),
  );
  it.each(cases)(
    '%s it took effect leaves at most one on, and the next deployment continues: %s',
    async (moment, _name, options, behavior) => {
      const count = await eachCall(async (at) => {
        const { fake } = await running(behavior);
        const { fetch, dead } = dyingAt(at, moment, fake);
        const run = clientOf(fake, { fetch }).workflows.deploy(welcome('Two'), options);
        const end = await Promise.race([passed(run), dead]);
        expect(idsOn(fake).length).toBeLessThanOrEqual(1);
        await goesOn(fake, ['Two', 'One', 'Three'][at % 3] ?? 'Two');
        return end;
      });
      expect(count).toBeGreaterThan(8);
    },
    120_000,
  );

  it('is repaired by the next deployment, also by one that enables nothing', async () => {
    await eachCall(async (at) => {
      const { fake } = await running();
      const { fetch, dead } = dyingAt(at, 'after', fake);
      const run = clientOf(fake, { fetch }).workflows.deploy(welcome('Two'), { enable: true });
      const end = await Promise.race([passed(run), dead]);
      await clientOf(fake).workflows.deploy(welcome('Three'));
      expect(idsOn(fake)).toHaveLength(1);
      return end;
    });
  });
});

/** A run that passed; one whose process died ends by a time limit, which nobody hears. */
function passed(run: Promise<unknown>) {
  return run.then(
    () => 'passed' as const,
    () => new Promise<never>(() => undefined),
  );
}

/** A process that dies at its n-th request: from then on nothing of it comes to an end. */
function dyingAt(at: number, moment: 'before' | 'after', fake: FakeMessaging) {
  let count = -1;
  let die: () => void = () => undefined;
  const dead = new Promise<'struck'>((resolve) => {
    die = () => resolve('struck');
  });
  const fetch: typeof fake.fetch = async (input, init) => {
    count += 1;
    if (count < at) {
      return fake.fetch(input, init);
    }
    if (count === at && moment === 'after') {
      await fake.fetch(input, init);
    }
    die();
    return new Promise<never>(() => undefined);
  };
  return { fetch, dead };
}

describe('an abort at each call of a deployment', () => {
  it('rejects with its reason if everything was undone, and otherwise reports what is on', async () => {
    const count = await eachCall(async (at) => {
      const { fake, first } = await running();
      const controller = new AbortController();
      let calls = -1;
      const fetch: typeof fake.fetch = async (input, init) => {
        calls += 1;
        if (calls === at) {
          controller.abort('enough');
        }
        return fake.fetch(input, init);
      };
      const { signal } = controller;
      const { workflows } = clientOf(fake, { fetch });
      const end = await workflows.deploy(welcome('Two'), { enable: true }, { signal }).then(
        () => 'passed' as const,
        (failure: unknown) => failure,
      );
      if (end === 'passed') {
        return end;
      }
      if (end === 'enough') {
        expect(idsOn(fake)).toHaveLength(1);
      } else {
        expectHonest(end, fake);
      }
      expect([...fake.project.workflows.keys()]).toContain(first);
      await goesOn(fake, 'Two');
      return 'struck';
    });
    expect(count).toBeGreaterThan(10);
  });
});

describe('a service that does not store what was sent', () => {
  it.each<[string, (name: string) => unknown]>([
    ['drops the mark', () => 'Welcome'],
    ['cuts names', (name) => name.slice(0, 12)],
    ['shows no name', () => undefined],
  ])('and %s leaves no workflow behind', async (_, shownName) => {
    const fake = createFakeMessaging();
    const fetch: typeof fake.fetch = async (input, init) => {
      const answer = await fake.fetch(input, init);
      const isWorkflow = /\/workflows(\/wfl_\w+)?$/.test(
        new Request(input).url.split('?')[0] ?? '',
      );
      if (!isWorkflow || answer.status === 204) {
        return answer;
      }
      const renamed = JSON.stringify(await answer.json(), (_field, value: unknown) =>
        isNamed(value) ? { ...value, name: shownName(value.name) } : value,
      );
      return new Response(renamed, answer);
    };
    const call = clientOf(fake, { fetch }).workflows.deploy(welcome('One'), { enable: true });
    await expect(call).rejects.toMatchObject({ code: 'MARK_DROPPED' });
    expect(fake.project.workflows.size).toBe(0);
  });

  it('and loses a setting: the error names it, and no workflow is left behind', async () => {
    const fake = createFakeMessaging();
    const fetch: typeof fake.fetch = async (input, init) => {
      const answer = await fake.fetch(input, init);
      const text = answer.status === 204 ? undefined : await answer.text();
      return new Response(
        text?.replaceAll('"body":"<p>Hi</p>",', '').replaceAll(',"body":"<p>Hi</p>"', ''),
        answer,
      );
    };
    const call = clientOf(fake, { fetch }).workflows.deploy(welcome('One'), { enable: true });
    await expect(call).rejects.toMatchObject({
      code: 'NOT_AS_DEPLOYED',
      message: expect.stringContaining('`config.body` of step "hello"') as string,
    });
    expect(fake.project.workflows.size).toBe(0);
  });
});

function isNamed(value: unknown): value is { name: string; allowReentry: boolean } {
  return typeof value === 'object' && value !== null && 'name' in value && 'allowReentry' in value;
}
