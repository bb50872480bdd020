import { isDeepStrictEqual } from 'node:util';
import {
  defineWorkflow,
  isPostreelError,
  memoryWorkflowState,
  MessagingClient,
  type IncompleteDeployment,
  type PostreelError,
  type WorkflowDefinition,
} from 'postreel';
import { createClock, createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { afterEach, beforeAll, beforeEach, describe, it, expect, vi } from 'vitest';
import { never } from '../support/laws/broken.js';
import { ended, reasons } from '../support/laws/settled.js';
import { onboarding } from '../support/messaging/onboarding.js';
import { tracked } from '../support/msw.js';
import { holdLaw, type Subject } from './exceptions.js';

// What is loaded with a first call must be there: files are not read on a fake clock.
beforeAll(async () => {
  const { messaging } = world();
  await messaging.workflows.deploy(onboarding, { state: memoryWorkflowState() });
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

/** What a fault does when a request comes: `act` lets the service have it. */
type Fault = (act: () => Promise<Response>, signal: AbortSignal | undefined) => Promise<Response>;

/** A service that meets one fault: in its `at`-th change after `arm()`, or its `at`-th request. */
function world() {
  const fake = createFakeMessaging({ clock: createClock({ now: () => Date.now() }) });
  let left = Number.POSITIVE_INFINITY;
  let fault: Fault = (act) => act();
  let changes = 0;
  let countsReads = false;
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const act = () => fake.fetch(input, { ...init, signal: null });
    if (!countsReads && (init?.method ?? 'GET') === 'GET') {
      return abortable(act(), init?.signal);
    }
    changes++;
    return left-- === 0 ? fault(act, init?.signal ?? undefined) : abortable(act(), init?.signal);
  };
  const messaging = new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: fake.baseUrl,
    fetch: tracked(fetch),
    rateLimit: false,
    retries: 0,
    validation: { requests: 'off' },
  });
  const arm = (at: number, one: Fault, withReads = false) => {
    countsReads = withReads;
    left = at;
    fault = one;
    changes = 0;
  };
  return { fake, messaging, arm, changes: () => changes };
}

function abortable(answer: Promise<Response>, signal: AbortSignal | null | undefined) {
  return new Promise<Response>((resolve, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as `fetch` does
    const leave = () => reject(signal?.reason);
    if (signal?.aborted) {
      leave();
    }
    signal?.addEventListener('abort', leave, { once: true });
    answer.then(resolve, reject);
  });
}

/** Each way in which a change may end badly; the reason is what the call rejects with, where it is told. */
const faultsOf = (): readonly {
  readonly name: string;
  readonly fault: Fault;
  readonly signal?: AbortSignal;
}[] => [
  ...reasons.flatMap(([reason, abort]) =>
    [false, true].map((hasArrived) => {
      const controller = new AbortController();
      return {
        name: `an abort with ${reason} ${hasArrived ? 'after' : 'before'} it arrives`,
        signal: controller.signal,
        fault: async (act: () => Promise<Response>, signal: AbortSignal | undefined) => {
          if (hasArrived) {
            await act();
          }
          abort(controller);
          return abortable(never(), signal);
        },
      };
    }),
  ),
  { name: 'a lost answer', fault: (act) => act().then(lost) },
  { name: 'a request that takes too long', fault: (_, signal) => abortable(never(), signal) },
  {
    name: 'a refusal',
    fault: () => Promise.resolve(Response.json({ error: 'no' }, { status: 400 })),
  },
  {
    name: 'an error of the service',
    fault: () => Promise.resolve(new Response(null, { status: 500 })),
  },
];

const lost = () => Promise.reject<Response>(new TypeError('fetch failed'));

const shop: WorkflowDefinition = onboarding;
const changed = defineWorkflow({
  key: 'onboarding',
  name: 'Onboarding 2',
  trigger: { event: 'signed_up' },
  enabled: true,
  steps: {
    welcome: { type: 'SEND_EMAIL', subject: 'Welcome!', body: '<p>Hi</p>', next: 'wait' },
    wait: { type: 'WAIT_FOR_EVENT', event: 'paid', next: 'thanks' },
    thanks: { type: 'SEND_EMAIL', subject: 'Thanks', body: '<p>Thanks</p>', next: 'done' },
    done: { type: 'EXIT' },
  },
});

/** The live workflows, whatever their ids and order. */
function live(fake: FakeMessaging): { readonly enabled: boolean }[] {
  return [...fake.project.workflows.values()].map(({ name, enabled, steps, transitions }) => {
    const own = [...steps.values()].map(({ name: step, type, config }) => [
      String(step),
      type,
      config,
    ]);
    own.sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
    return { name, enabled, steps: own, transitions: transitions.size };
  });
}

/** Deploys `to` where `from` is live, with a fault in one change; then again without. */
function deploySubjects(
  what: string,
  from: WorkflowDefinition | undefined,
  changes: number,
): Subject[] {
  return Array.from({ length: changes }, (_, at) =>
    faultsOf().map(({ name, fault, signal }) => ({
      name: `messaging.workflows.deploy of ${what}: ${name}, in change ${at}`,
      check: async () => {
        const { fake, messaging, arm } = world();
        const state = memoryWorkflowState();
        if (from) {
          await ended(messaging.workflows.deploy(from, { state }));
        }
        const before = live(fake);
        const to = from ? changed : shop;
        const clean = world();
        await ended(clean.messaging.workflows.deploy(to, { state: memoryWorkflowState() }));
        const wanted = live(clean.fake);
        arm(at, fault);
        const end = await ended(
          messaging.workflows.deploy(to, { state }, { signal, timeout: 1_000 }),
        );
        if ('error' in end) {
          const { error } = end;
          const isIncomplete = isPostreelError(error) && error.code === 'DEPLOY_INCOMPLETE';
          if (signal?.aborted) {
            expect(isIncomplete ? error.cause : error).toBe(signal.reason);
          }
          if (isIncomplete) {
            const { enabled } = error.details as IncompleteDeployment;
            const [now] = live(fake);
            expect(enabled === undefined || enabled === now?.enabled, 'what it says is so').toBe(
              true,
            );
          } else {
            // What was all but done is brought to its end instead.
            const isWanted = isDeepStrictEqual(live(fake), wanted);
            expect(live(fake), 'it is as it was').toEqual(isWanted ? wanted : before);
          }
        }
        arm(Number.POSITIVE_INFINITY, (act) => act());
        const again = await ended(messaging.workflows.deploy(to, { state }));
        expect(again).toHaveProperty('value');
        expect(live(fake)).toEqual(wanted);
      },
    })),
  ).flat();
}

const draft = {
  name: 'Sale',
  subject: 'Sale',
  body: '<p>Sale</p>',
  from: 'shop@example.com',
  audienceType: 'ALL',
} as const;

/** An edit replaces a campaign and reads it back: the replacement is not forgotten with the reading. */
function editSubjects(): Subject[] {
  return faultsOf().map(({ name, fault, signal }) => ({
    name: `messaging.campaigns.edit: ${name}, when it reads back`,
    check: async () => {
      const { messaging, arm } = world();
      const created = await ended(messaging.campaigns.create(draft));
      const { id } = (created as { value: { id: string } }).value;
      arm(3, fault, true);
      const change = (campaign: { subject: string }) => {
        campaign.subject = 'Last day';
      };
      const end = await ended(messaging.campaigns.edit(id, change, { signal, timeout: 1_000 }));
      const { error } = end as { error: PostreelError };
      expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', outcome: 'unknown' });
      expect(error.message).toMatch(/was replaced/);
      if (signal) {
        expect(error.cause).toBe(signal.reason);
      }
      arm(Number.POSITIVE_INFINITY, (act) => act());
      const now = await ended(messaging.campaigns.get(id));
      expect(now).toMatchObject({ value: { subject: 'Last day' } });
    },
  }));
}

/** Executions that were cancelled stay so, whatever becomes of the deletion behind them. */
function deleteSubjects(): Subject[] {
  return ['cancels', 'deletes'].flatMap((step, at) =>
    faultsOf().map(({ name, fault, signal }) => ({
      name: `messaging.workflows.delete with cancelExecutions: ${name}, when it ${step}`,
      check: async () => {
        const { messaging, arm } = world();
        const created = await ended(messaging.workflows.create({ name: 'A', eventName: 'a' }));
        const { id } = (created as { value: { id: string } }).value;
        arm(at, fault);
        const options = { cancelExecutions: true, signal, timeout: 1_000 };
        const call = messaging.workflows.delete(id, options);
        expect(await ended(call)).toHaveProperty('error');
        const isOpen = step === 'deletes' || name !== 'a refusal';
        expect(call.outcome, 'something has taken effect').toBe(isOpen ? 'unknown' : 'not-sent');
      },
    })),
  );
}

describe('law 4, nothing that was done is forgotten', () => {
  it('in a deployment, however one of its changes ends', async () => {
    const { messaging, arm, changes } = world();
    const state = memoryWorkflowState();
    arm(Number.POSITIVE_INFINITY, (act) => act());
    await ended(messaging.workflows.deploy(shop, { state }));
    const first = changes();
    arm(Number.POSITIVE_INFINITY, (act) => act());
    await ended(messaging.workflows.deploy(changed, { state }));
    const second = changes();
    expect([first, second].every((count) => count > 1)).toBe(true);
    await holdLaw('law 4, deployments', [
      ...deploySubjects('a new workflow', undefined, first),
      ...deploySubjects('a changed workflow', shop, second),
    ]);
  });

  it('in calls of two steps, when the second one fails', async () => {
    await holdLaw('law 4, calls of two steps', [...editSubjects(), ...deleteSubjects()]);
  });
});
