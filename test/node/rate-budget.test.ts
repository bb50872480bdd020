import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MessagingClient, type RateBudgetStore } from 'postreel';
import { fileRateBudgetStore } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rateBudgetContract } from '../support/stores/rate-budget-contract.js';

const limits = { limit: 2, windowMs: 60_000, headroom: 0 };
const leaseMs = 70_000;

let path: string;

beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'postreel-budget-')), 'deep', 'budget.json');
});
afterEach(async () => {
  vi.restoreAllMocks();
  skippedMs = 0;
  await rm(dirname(dirname(path)), { recursive: true, force: true, maxRetries: 9 });
});

describe('fileRateBudgetStore()', () => {
  rateBudgetContract(() => fileRateBudgetStore(path) as Required<RateBudgetStore>, advanceClock);

  it.each(['', '{"now":1,"projects":[["project",', '[]', 'null', '\0\0\0\0'])(
    'treats a truncated file as empty: %j',
    async (text) => {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      const store = fileRateBudgetStore(path);
      await slotOf(store);
      await slotOf(store);
      expect(await store.take('project', limits, leaseMs)).toHaveProperty('waitMs');
    },
  );

  it('is not blocked by the lock and the draft of a killed process', async () => {
    await mkdir(`${path}.lock`, { recursive: true });
    await writeFile(`${path}.next`, '{"now":1,"proj');
    await slotOf(fileRateBudgetStore(path));
    expect(await readdir(dirname(path))).toEqual(['budget.json']);
  });

  it('keeps counting after a restart of the machine, whose monotonic clock then starts at zero', async () => {
    const clock = vi.spyOn(process.hrtime, 'bigint').mockReturnValue(900_000_000_000n);
    const store = fileRateBudgetStore(path);
    await store.release('project', await slotOf(store), limits);
    await store.release('project', await slotOf(store), limits);
    clock.mockReturnValue(30_000_000_000n);
    expect(await store.take('project', limits, leaseMs)).toEqual({ waitMs: 30_000 });
    clock.mockReturnValue(61_000_000_000n);
    await slotOf(store);
  });

  it.each([-3_600_000, 3_600_000])(
    'is not affected by a clock that is set by %i ms',
    async (ms) => {
      const store = fileRateBudgetStore(path);
      await store.release('project', await slotOf(store), limits);
      await store.release('project', await slotOf(store), limits);
      const now = Date.now() + ms;
      vi.spyOn(Date, 'now').mockReturnValue(now);
      const answer = await store.take('project', limits, leaseMs);
      expect(answer).toEqual({ waitMs: expect.closeTo(60_000, -4) as number });
    },
  );

  it('does not treat an unreadable file as empty', async () => {
    const store = fileRateBudgetStore(path);
    await slotOf(store);
    await rm(path);
    await mkdir(path); // a folder is as unreadable as the file of another user, also for root
    await expect(store.take('project', limits, leaseMs)).rejects.toThrow();
    expect((await stat(path)).isDirectory()).toBe(true);
  });

  it('does not write through a link that another user has created', async () => {
    await mkdir(dirname(path), { recursive: true });
    const target = join(dirname(path), 'precious');
    await writeFile(target, 'not ours');
    await symlink(target, `${path}.next`);
    await symlink(target, path);
    await slotOf(fileRateBudgetStore(path));
    expect(await readFile(target, 'utf8')).toBe('not ours');
  });

  it('writes a file that only its owner can read, and removes expired projects', async () => {
    const clock = vi.spyOn(process.hrtime, 'bigint').mockReturnValue(1_000_000_000n);
    const store = fileRateBudgetStore(path);
    await store.release('project', await slotOf(store), limits);
    expect((await stat(path)).mode & 0o077).toBe(0);
    clock.mockReturnValue(61_000_000_000n);
    await store.cancel('other', 'nothing');
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ projects: [] });
  });

  it('handles many calls in one write', async () => {
    const store = fileRateBudgetStore(path);
    const many = { ...limits, limit: 1_000 };
    const takes = Array.from({ length: 1_200 }, () => store.take('project', many, leaseMs));
    const answers = await Promise.all(takes);
    expect(answers.filter((answer) => 'slots' in answer)).toHaveLength(1_000);
  });

  it('rejects if it cannot write; the client then keeps the limit by itself', async () => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '');
    const store = fileRateBudgetStore(join(path, 'below-a-file.json'));
    await expect(store.take('project', limits, leaseMs)).rejects.toThrow();
    const { client, warnings } = clientWith(store, 'sk_test_disk');
    await client.contacts.get('con_1');
    await client.contacts.get('con_2');
    await expect(client.contacts.get('con_3', { deadline: 1_000 })).rejects.toMatchObject({
      name: 'RateLimitError',
      outcome: 'not-sent',
    });
    expect(warnings).toHaveLength(1);
  });

  it('does not store the API key of a client', async () => {
    const { client } = clientWith(fileRateBudgetStore(path), 'sk_test_secret');
    await client.contacts.get('con_1');
    expect(await readFile(path, 'utf8')).not.toContain('secret');
  });
});

let skippedMs = 0;
const uptime = process.hrtime.bigint.bind(process.hrtime);

/** Advances only the machine's clock: the disk is a real one. */
function advanceClock(ms: number): Promise<void> {
  skippedMs += ms;
  vi.spyOn(process.hrtime, 'bigint').mockImplementation(
    () => uptime() + BigInt(skippedMs) * 1_000_000n,
  );
  return Promise.resolve();
}

function clientWith(store: RateBudgetStore, apiKey: string) {
  const client = new MessagingClient({
    apiKey,
    baseUrl: 'https://messaging.test',
    rateLimit: { ...limits, store },
    fetch: () => Promise.resolve(Response.json({ id: 'con_1' })),
  });
  const warnings: string[] = [];
  client.on('warning', ({ message }) => warnings.push(message));
  return { client, warnings };
}

async function slotOf(store: RateBudgetStore): Promise<string> {
  const answer = await store.take('project', limits, leaseMs);
  if ('waitMs' in answer) {
    throw new Error(`no slot for ${answer.waitMs} ms`);
  }
  return answer.slots[0] ?? '';
}
