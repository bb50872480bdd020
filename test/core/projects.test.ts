import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock, type Clock } from '../../src/core/async.js';
import { findProject, type ProjectState } from '../../src/core/limit/projects.js';
import type { SlotRequest } from '../../src/core/limit/rate-limit.js';
import type { RateBudgetStore } from '../../src/core/limit/rate-store.js';
import { sharedCountedPoller } from '../../src/media/status/counted-poller.js';
import { sharedSlots } from '../../src/media/submit/slots.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const maxProjects = 1000;
const baseUrl = 'https://service.test';
const limits = { limit: 1, windowMs: 60_000, headroom: 0 };
const signal = new AbortController().signal;
const request: SlotRequest = {
  method: 'GET',
  path: '/contacts',
  priority: 'interactive',
  signal: undefined,
  maxWaitMs: Number.POSITIVE_INFINITY,
  limitedBy: 'maxQueueMs',
  isRepeat: false,
  onWait: () => undefined,
  onWarning: () => undefined,
};
const fullStore: RateBudgetStore = {
  take: () => Promise.resolve({ waitMs: 60_000 }),
  release: () => Promise.resolve(),
  cancel: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
const slotsOf = (project: ProjectState) =>
  sharedSlots(project, { limit: 20, store: undefined, warn: () => undefined });

/** Adds projects until the registry drops the idle ones, and looks whether this one is still there. */
function survives(project: ProjectState, key: string, clock: Clock): boolean {
  for (let count = 0; count <= maxProjects; count++) {
    findProject(clock, baseUrl, `other ${count}`);
  }
  return findProject(clock, baseUrl, key) === project;
}

/** Reasons to keep a project: each prepares the project and returns how long the reason lasts. */
const reasons: Readonly<Record<string, (project: ProjectState) => Promise<number>>> = {
  'a request in flight': async (project) => {
    const slot = await project.localBudget(limits).acquire(request);
    setTimeout(() => slot.cancel(), 90_000);
    return 90_000;
  },
  'an open window': async (project) => {
    const slot = await project.localBudget(limits).acquire(request);
    slot.release();
    return 60_000;
  },
  'a 429 of late': (project) => {
    project.localBudget(limits).pause(30_000);
    return Promise.resolve(30_000 + 60_000);
  },
  'a call that waits for a store': async (project) => {
    const controller = new AbortController();
    const budget = project.sharedBudget(fullStore, limits);
    budget.acquire({ ...request, signal: controller.signal }).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(0);
    setTimeout(() => controller.abort(), 90_000);
    return 90_000;
  },
  'a taken slot of a job': async (project) => {
    await slotsOf(project).take(1);
    return 600_000;
  },
  'a call that waits for a slot of a job': (project) => {
    setTimeout(
      slotsOf(project).onFree(() => undefined),
      90_000,
    );
    return Promise.resolve(90_000);
  },
  'a 429 of a status check': (project) => {
    sharedCountedPoller(project).noteRefusal(Number.POSITIVE_INFINITY, 10_000);
    return Promise.resolve(10_000 + 600_000);
  },
  'a status check in the line': (project) => {
    const check = () => new Promise<void>((resolve) => void setTimeout(resolve, 90_000));
    void sharedCountedPoller(project).runInTurn(check, signal);
    return Promise.resolve(90_000 + 60_000);
  },
};

describe('a project among a thousand others', () => {
  it.each(Object.entries(reasons))('is kept for %s, and dropped afterwards', async (_, prepare) => {
    const clock = { ...systemClock }; // a separate registry
    const project = findProject(clock, baseUrl, 'key');
    const lastsMs = await prepare(project);
    await vi.advanceTimersByTimeAsync(lastsMs - 1);
    expect(survives(project, 'key', clock)).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(survives(project, 'key', clock)).toBe(false);
  });

  it('has the same slots and the same poller for every client with the same limit', () => {
    const project = findProject({ ...systemClock }, baseUrl, 'key');
    const settings = { limit: 5, store: fullStore, warn: () => undefined };
    const five = sharedSlots(project, settings);
    expect(slotsOf(project)).toBe(slotsOf(project));
    expect(slotsOf(project)).not.toBe(five);
    expect(sharedSlots(project, settings)).toBe(five);
    expect(sharedSlots(project, { ...settings, store: { ...fullStore } })).not.toBe(five);
    expect(sharedCountedPoller(project)).toBe(sharedCountedPoller(project));
  });
});
