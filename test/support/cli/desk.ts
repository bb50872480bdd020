import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MediaClient, MessagingClient } from 'postreel';
import {
  createClock,
  createFakeMedia,
  createFakeMessaging,
  type FakeMedia,
  type FakeMessaging,
} from 'postreel/testing';
import type { Approver } from '../../../src/cli/mcp/approval.js';
import { Desk, type Answer } from '../../../src/cli/mcp/desk.js';
import { Folder } from '../../../src/cli/mcp/folder.js';
import { Plans, type Plan } from '../../../src/cli/mcp/plans.js';
import { ServiceData } from '../../../src/cli/mcp/service-data.js';
import type { Progress } from '../../../src/cli/mcp/tools/tool.js';
import { emptyFolder } from '../empty-folder.js';

/** A desk on fakes in memory, with all that can be asked of it. */
export interface DeskScene {
  readonly messaging: FakeMessaging;
  readonly media: FakeMedia;
  readonly desk: Desk;
  /** The server of another client, with the same services. */
  readonly other: Desk;
  readonly folder: string;
  /** Moves the clock of the plans. */
  pass(ms: number): void;
  call(name: string, args?: object): Promise<Answer>;
  /** Plans a step and gives the id of the plan. */
  plan(name: string, args: object): Promise<string>;
  carryOut(id: string, approver: Approver): Promise<Answer>;
}

export const yes: Approver = { ask: () => Promise.resolve('yes') };
export const no: Approver = { ask: () => Promise.resolve('no') };
export const later: Approver = { ask: () => Promise.resolve('later') };

/** A progress that is never cancelled. */
export const calm = (): Progress => ({
  signal: new AbortController().signal,
  report: () => undefined,
});

export function openDesk(): DeskScene {
  const clock = createClock();
  const messaging = createFakeMessaging({ clock, rateLimit: { limit: Infinity } });
  const media = createFakeMedia({ clock, rateLimit: false });
  messaging.seed({ contacts: 3, templates: 1, campaigns: 1, segments: 1, workflows: 1 });
  const folder = emptyFolder();
  let now = 0;
  const plans = new Plans(() => now);
  const data = new ServiceData();
  const services = {
    messaging: new MessagingClient({
      apiKey: messaging.secretKey,
      baseUrl: messaging.baseUrl,
      fetch: data.watching(messaging.fetch),
      rateLimit: false,
    }),
    media: new MediaClient({
      apiKey: media.apiKey,
      baseUrl: media.baseUrl,
      fetch: data.watching(media.fetch),
      rateLimit: false,
    }),
    folder: new Folder(folder),
    finished: new Map(),
  };
  const desk = new Desk(services, data, plans);
  const call = (name: string, args: object = {}) => desk.call(name, args, calm());
  return {
    messaging,
    media,
    desk,
    other: new Desk(services, data, new Plans(() => now)),
    folder,
    pass: (ms) => {
      now += ms;
    },
    call,
    plan: async (name, args) => {
      const { value } = await call(name, args);
      return (value as { plan: string }).plan; // as: what a plan answers
    },
    carryOut: (id, approver) => desk.carryOut(id, approver, calm()),
  };
}

/** Answers every plan and keeps what the person saw. */
export function reader(says: 'yes' | 'no' = 'yes'): Approver & { readonly seen: Plan[] } {
  const seen: Plan[] = [];
  return {
    seen,
    ask: (plan) => {
      seen.push(plan);
      return Promise.resolve(says);
    },
  };
}

/** Writes a file into the folder of a desk. */
export function write({ folder }: DeskScene, name: string, text: string): void {
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
