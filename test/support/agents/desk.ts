import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MediaClient, memoryJournal, MessagingClient, type JournalStore } from 'postreel';
import {
  createClock,
  createFakeMedia,
  createFakeMessaging,
  type FakeMedia,
  type FakeMessaging,
} from 'postreel/testing';
import { Folder } from '../../../src/agents/folder.js';
import { PlanStore, textOf, type Plan } from '../../../src/agents/plans.js';
import { ServiceTexts } from '../../../src/agents/service-texts.js';
import type { PlanTool, CallProgress, Services } from '../../../src/agents/tool.js';
import { tools } from '../../../src/agents/tools.js';
import { emptyFolder } from '../empty-folder.js';

/** A desk on fakes in memory, with all that can be asked of it. */
export interface PlanScene {
  readonly messaging: FakeMessaging;
  readonly media: FakeMedia;
  readonly services: Services;
  readonly planStore: PlanStore;
  /** Another server over the same folder, after a restart. */
  restarted(onNews?: (text: string) => void): PlanStore;
  readonly folder: string;
  readonly journal: JournalStore;
  /** Moves the clock of the plans. */
  pass(ms: number): void;
  call(name: string, args?: object): Promise<unknown>;
  /** Plans a step at one of the servers. */
  planOn(planStore: PlanStore, name: string, args: object): Promise<object>;
  /** Plans a step and gives the id of the plan. */
  plan(name: string, args: object): Promise<string>;
  /** Plans a step and gives what a person reads of it. */
  read(name: string, args: object): Promise<string>;
  carryOut(id: string, person: Person): Promise<unknown>;
}

/** Decides about a plan when it is asked, or later. */
export type Person = (plan: Plan, planStore: PlanStore) => void;

export const yes: Person = ({ id, fingerprint }, planStore) =>
  planStore.answer(id, fingerprint, 'yes');
export const no: Person = ({ id, fingerprint }, planStore) =>
  planStore.answer(id, fingerprint, 'no');
export const later: Person = () => undefined;

/** A progress that is never cancelled. */
export const calm = (): CallProgress => ({
  signal: new AbortController().signal,
  report: () => undefined,
});

export function openPlanScene(): PlanScene {
  const clock = createClock();
  const messaging = createFakeMessaging({ clock, rateLimit: { limit: Infinity } });
  const media = createFakeMedia({ clock, rateLimit: false });
  messaging.seed({ contacts: 3, templates: 1, campaigns: 1, segments: 1, workflows: 1 });
  const folder = emptyFolder();
  let now = Date.parse('2026-03-01T12:00:00Z');
  let patienceMs = 60_000;
  const data = new ServiceTexts();
  const journal = memoryJournal();
  const services = {
    messaging: new MessagingClient({
      apiKey: messaging.secretKey,
      baseUrl: messaging.baseUrl,
      fetch: watched(data, messaging.fetch),
      rateLimit: false,
      journal,
    }),
    media: new MediaClient({
      apiKey: media.apiKey,
      baseUrl: media.baseUrl,
      fetch: watched(data, media.fetch),
      rateLimit: false,
      journal,
    }),
    folder: new Folder(folder),
    finished: new Map(),
  };
  const restarted = (onNews?: (text: string) => void) =>
    new PlanStore({
      ...(onNews && { onNews }),
      services,
      serviceTexts: data,
      journal,
      get patienceMs() {
        return patienceMs;
      },
      stopped: new AbortController().signal,
      now: () => now,
    });
  const planStore = restarted();
  const call = (name: string, args: object = {}) => {
    const tool = tools.find((each) => each.name === name)!;
    return tool.kind === 'read' ? tool.read(args, services, calm()) : planOn(planStore, name, args);
  };
  const planOn = (at: PlanStore, name: string, args: object) => {
    const tool = tools.find((each) => each.name === name);
    return at.plan(tool as PlanTool, args, calm().signal); // as: of its name
  };
  const plan = async (name: string, args: object) =>
    ((await call(name, args)) as { plan: string }).plan; // as: what a plan answers
  const carryOut = (id: string, person: Person) => {
    patienceMs = person === later ? 1 : 60_000; // so long only for what never ends
    return planStore.carryOut(id, (asked) => (person(asked, planStore), () => 'nowhere'), calm());
  };
  return {
    messaging,
    media,
    services,
    planStore,
    restarted,
    folder,
    journal,
    pass: (ms) => {
      now += ms;
    },
    call,
    planOn,
    plan,
    carryOut,
    read: async (name, args) => {
      const person = reader('no');
      await carryOut(await plan(name, args), person).catch(() => undefined);
      return textOf(person.seen[0]!);
    },
  };
}

/** A `fetch` of a fake whose answers are watched, and whose clients go by the fake's clock as before. */
function watched(data: ServiceTexts, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const clock = Symbol.for('postreel.clock');
  return Object.assign(data.watch(fetch), { [clock]: Reflect.get(fetch, clock) as unknown });
}

/** Answers every plan and keeps what the person saw. */
export function reader(says: 'yes' | 'no' = 'yes'): Person & { readonly seen: Plan[] } {
  const seen: Plan[] = [];
  const person: Person = (plan, planStore) => {
    seen.push(plan);
    planStore.answer(plan.id, plan.fingerprint, says);
  };
  return Object.assign(person, { seen });
}

/** Writes a file into the folder of a desk. */
export function write({ folder }: PlanScene, name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

export const mail = {
  from: 'shop@example.com',
  to: 'ann@example.com',
  subject: 'Hi',
  body: '<p>Hello</p>',
};
export const videos = {
  payload: [{ workflowType: 'idea', workflowFormat: 'video', prompt: 'Cats', voiceId: 'voice_1' }],
};
