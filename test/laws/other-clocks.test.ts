import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessagingClient, type RateBudgetStore } from 'postreel';
import { fileRateBudgetStore } from 'postreel/node';
import { signWebhookUrl, verifyWebhook } from 'postreel/webhooks';
import { afterEach, expect, it, vi } from 'vitest';
import { withLock } from '../../src/node/file-lock.js';
import { sharedBehaviors } from '../../src/testing/behavior/shared.js';
import { createRateLimiter, type RateLimitOptions } from '../../src/testing/core/rate-limit.js';
import { memoryStore } from '../support/transport/memory-store.js';
import { holdLaw, type Subject } from './exceptions.js';

const anHourMs = 3_600_000;
const aDayMs = 86_400_000;
const offs = [-aDayMs, -anHourMs, anHourMs, aDayMs];
const windowMs = 10_000;

afterEach(() => void vi.useRealTimers());

let groups = 0;

function clientOf(fetch: () => Promise<Response>, store?: RateBudgetStore): MessagingClient {
  return new MessagingClient({
    apiKey: 'sk_law',
    baseUrl: 'https://messaging.test',
    rateLimit: { limit: 60, windowMs, group: `law 9 ${++groups}`, store },
    fetch,
  });
}

/** A service whose clock is off, however it announces a wait: the call is repeated in time. */
function announcedWait(headers: NonNullable<RateLimitOptions['headers']>, off: number): Subject {
  return {
    name: `the wait that a 429 announces as ${headers}, by a clock ${off} ms ahead`,
    check: async () => {
      vi.useFakeTimers();
      const service = { limit: 1, windowMs, headers, clockAheadMs: off };
      const { check } = createRateLimiter(service);
      const { isAllowed } = check('key', Date.now()); // another program of the project
      expect(isAllowed).toBe(true);
      const client = clientOf(() => {
        const verdict = check('key', Date.now());
        const status = verdict.isAllowed ? 200 : 429;
        return Promise.resolve(Response.json({}, { status, headers: verdict.headers }));
      });
      let isDone = false;
      void client.contacts.get('con_1').then(() => {
        isDone = true;
      });
      await vi.advanceTimersByTimeAsync(windowMs - 1_000);
      expect(isDone).toBe(false);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(isDone).toBe(true);
      vi.useRealTimers();
    },
  };
}

/** The clock of this host is set while its limit is used up. */
function limitOfProcess(off: number): Subject {
  return {
    name: `the limit of a process whose clock is set by ${off} ms`,
    check: async () => {
      vi.useFakeTimers();
      let sent = 0;
      const client = clientOf(() => Promise.resolve(Response.json({ sent: ++sent })));
      const calls = Array.from({ length: 61 }, () => client.contacts.get('con_1'));
      await vi.advanceTimersByTimeAsync(100);
      vi.setSystemTime(Date.now() + off);
      await vi.advanceTimersByTimeAsync(windowMs - 1_000);
      expect(sent).toBe(60);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(sent).toBe(61);
      await Promise.all(calls);
      vi.useRealTimers();
    },
  };
}

function budgetOnDisk(off: number): Subject {
  return {
    name: `a budget on disk when the clock is set by ${off} ms`,
    check: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'postreel-law-'));
      const store = fileRateBudgetStore(join(folder, 'budget.json'));
      const limits = { limit: 1, windowMs, headroom: 0 };
      const answer = await store.take('project', limits, 2 * windowMs);
      expect(answer).toHaveProperty('slots');
      await store.release('project', 'slots' in answer ? (answer.slots[0] ?? '') : '', limits);
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + off });
      const { waitMs } = (await store.take('project', limits, 2 * windowMs)) as { waitMs: number };
      vi.useRealTimers();
      await rm(folder, { recursive: true });
      expect(waitMs).toBeGreaterThan(windowMs - 5_000); // a busy machine takes its time
      expect(waitMs).toBeLessThanOrEqual(windowMs);
    },
  };
}

function claimOfContainer(off: number): Subject {
  return {
    name: `the claim of another container on a lock, by a clock ${off} ms ahead`,
    check: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'postreel-law-'));
      const path = join(folder, 'file');
      const claim = join(`${path}.lock`, 'container-17-1-claim');
      await mkdir(`${path}.lock`);
      await writeFile(claim, '');
      const at = new Date(Date.now() + off);
      await utimes(claim, at, at);
      let isTaken = false;
      const waiting = withLock(path, () => {
        isTaken = true;
        return Promise.resolve();
      });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(isTaken).toBe(false);
      await rm(claim);
      await waiting;
      await rm(folder, { recursive: true });
    },
  };
}

/** A day is the default: less is what the user asked for. */
function callback(off: number): Subject {
  return {
    name: `a callback to an address that was signed by a clock ${off} ms ahead`,
    check: async () => {
      const secret = 'a secret of sixteen characters';
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + off });
      const url = await signWebhookUrl('https://shop.example/done', { secret });
      vi.useRealTimers();
      const body = { success: true, data: { id: 'file_1', file: 'https://cdn.example/1' } };
      await expect(verifyWebhook({ url, body }, { secret })).resolves.toMatchObject({
        fileId: 'file_1',
      });
    },
  };
}

/** The first of three hosts hears dates by a clock that is off. */
function fleet(off: number): Subject {
  return {
    name: `a fleet of three, one of them ${off} ms off`,
    check: async () => {
      vi.useFakeTimers();
      const { store } = memoryStore();
      const one = { limit: 60, windowMs, headers: 'retry-after-date' } as const;
      const service = createRateLimiter(one);
      const late = createRateLimiter({ ...one, clockAheadMs: off });
      // Another program of the project, so that there are 429s, for the host that is off too.
      for (let call = 0; call < 12; call++) {
        service.check('key', Date.now());
        late.check('key', Date.now());
      }
      let refused = 0;
      let misheard = 0;
      let done = 0;
      const hosts = [0, 1, 2].map((host) =>
        clientOf(() => {
          const right = service.check('key', Date.now());
          const asHeard = late.check('key', Date.now());
          refused += right.isAllowed ? 0 : 1;
          misheard += right.isAllowed || host > 0 ? 0 : 1;
          const status = right.isAllowed ? 200 : 429;
          const { headers } = host === 0 ? asHeard : right;
          return Promise.resolve(Response.json({}, { status, headers }));
        }, store),
      );
      const send = async (client: MessagingClient, calls: number) => {
        for (let call = 0; call < calls; call++) {
          const { error } = await client.contacts.get('con_1').safe();
          done += error ? 0 : 1;
          await new Promise((resolve) => setTimeout(resolve, error ? 1_000 : 0));
          call -= error ? 1 : 0;
        }
      };
      hosts.forEach((client) => Array.from({ length: 8 }, () => void send(client, 10)));
      await vi.advanceTimersByTimeAsync(8 * windowMs); // four would do for 240 calls
      expect(misheard).toBeGreaterThan(0);
      expect(done).toBe(240);
      expect(refused).toBeLessThan(20);
      vi.useRealTimers();
    },
  };
}

it("other people's clocks decide nothing: no limit, lock, claim or wait moves", async () => {
  const forms = sharedBehaviors.rateLimitHeaders.values;
  await holdLaw('law 9, limits, waits, locks and callbacks', [
    ...forms.flatMap((form) => offs.map((off) => announcedWait(form, off))),
    ...offs.flatMap((off) => [
      limitOfProcess(off),
      budgetOnDisk(off),
      claimOfContainer(off),
      fleet(off),
    ]),
    ...[-anHourMs, anHourMs].map(callback),
  ]);
});
