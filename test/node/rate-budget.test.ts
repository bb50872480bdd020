import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileRateBudgetStore } from 'postreel/node';
import { MessagingClient } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const limits = { limit: 2, windowMs: 60_000, headroom: 0 };
const leaseMs = 180_000;
const written = { version: 1, now: 0, uptimeMs: 0 };

let path: string;

beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'postreel-budget-')), 'deep', 'budget.json');
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  skippedMs = 0;
  await rm(dirname(dirname(path)), { recursive: true, force: true, maxRetries: 9 });
});

describe('fileRateBudgetStore', () => {
  it('remembers what an earlier process sent', async () => {
    const earlier = fileRateBudgetStore(path);
    for (let count = 0; count < 2; count++) {
      await earlier.release('project', await slotOf(earlier), limits);
    }
    const answer = await fileRateBudgetStore(path).take('project', limits, leaseMs);
    expect(answer).toEqual({ waitMs: expect.closeTo(60_000, -4) as number });
  });

  it('counts each project for itself', async () => {
    const store = fileRateBudgetStore(path);
    await store.take('one', limits, leaseMs);
    await store.take('one', limits, leaseMs);
    expect(await store.take('__proto__', limits, leaseMs)).toHaveProperty('slots');
  });

  it('says that a slot under way can come free a window from now at the earliest', async () => {
    const store = fileRateBudgetStore(path);
    await store.take('project', limits, leaseMs);
    await store.take('project', limits, leaseMs);
    expect(await store.take('project', limits, leaseMs)).toEqual({ waitMs: 60_000 });
  });

  it('gives a slot back at once, after its window, or when its lease is over', async () => {
    const store = fileRateBudgetStore(path);
    const first = await slotOf(store);
    const second = await slotOf(store);
    await store.cancel('project', first);
    const third = await slotOf(store);
    await store.release('project', third, limits);
    passes(60_000);
    await slotOf(store);
    expect(await store.take('project', limits, leaseMs)).toHaveProperty('waitMs');
    passes(leaseMs - 60_000);
    await slotOf(store);
    await store.release('project', second, limits);
    expect(await store.take('project', limits, leaseMs)).toHaveProperty('waitMs');
  });

  it('leaves room for others', async () => {
    const store = fileRateBudgetStore(path);
    const half = { ...limits, headroom: 0.5 };
    await store.take('project', half, leaseMs);
    expect(await store.take('project', half, leaseMs)).toHaveProperty('waitMs');
  });

  it('lets no process go for the time the service asks', async () => {
    await fileRateBudgetStore(path).close('project', 5_000);
    await fileRateBudgetStore(path).close('project', 1_000);
    const answer = await fileRateBudgetStore(path).take('project', limits, leaseMs);
    expect(answer).toEqual({ waitMs: expect.closeTo(5_000, -3) as number });
  });

  it('leases places for jobs and takes them back', async () => {
    const store = fileRateBudgetStore(path);
    const places = await store.lease!('project', 3, 4, leaseMs);
    expect(places).toHaveLength(3);
    expect(await fileRateBudgetStore(path).lease!('project', 3, 4, leaseMs)).toHaveLength(1);
    await store.giveBack!('project', places);
    expect(await store.lease!('project', 9, 4, leaseMs)).toHaveLength(3);
    passes(leaseMs);
    expect(await store.lease!('project', 9, 4, leaseMs)).toHaveLength(4);
  });

  it.each(['', '{"version":1,"accounts":{"project":{"leased":{"a":', '[]', 'null', '\0\0\0\0'])(
    'takes a file that was torn for an empty one: %j',
    async (text) => {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      const store = fileRateBudgetStore(path);
      await slotOf(store);
      await slotOf(store);
      expect(await store.take('project', limits, leaseMs)).toHaveProperty('waitMs');
    },
  );

  it('takes what is no time for nothing', async () => {
    await mkdir(dirname(path), { recursive: true });
    const project = { leased: { a: 'x' }, held: [null, 'x'], closedUntil: {}, places: [] };
    const accounts = { project, other: 'x', half: { held: 'x' } };
    await writeFile(path, JSON.stringify({ ...written, accounts }));
    expect(await fileRateBudgetStore(path).take('project', limits, leaseMs)).toHaveProperty(
      'slots',
    );
  });

  it('does not wait for years, whatever the file holds', async () => {
    await mkdir(dirname(path), { recursive: true });
    const future = 1e15;
    const project = { leased: { a: future }, held: [future], closedUntil: 0, places: {} };
    await writeFile(path, JSON.stringify({ ...written, accounts: { project } }));
    const store = fileRateBudgetStore(path);
    const answer = await store.take('project', limits, leaseMs);
    expect(answer).toHaveProperty('waitMs', 60_000);
    passes(leaseMs);
    expect(await store.take('project', limits, leaseMs)).toHaveProperty('slots');
  });

  it('is not held up by a lock and half a file of a process that was killed', async () => {
    await mkdir(`${path}.lock`, { recursive: true });
    await writeFile(`${path}.next`, '{"version":1,"acc');
    expect(await fileRateBudgetStore(path).take('project', limits, leaseMs)).toHaveProperty(
      'slots',
    );
    expect(await readdir(dirname(path))).toEqual(['budget.json']);
  });

  it('is closed for an hour at most, and lets one request a window try', async () => {
    const store = fileRateBudgetStore(path);
    await store.close('project', 30 * 24 * 3_600_000);
    const answer = await store.take('project', limits, leaseMs);
    expect(answer).toEqual({ waitMs: expect.closeTo(3_600_000, -4) as number });
    passes(60_000);
    const probe = await store.take('project', limits, leaseMs, 2);
    expect(probe).toMatchObject({ slots: [expect.any(String)], isProbe: true });
    expect(await store.take('project', limits, leaseMs)).toHaveProperty('waitMs');
    await store.reopen!('project');
    await slotOf(store);
  });

  it('lets slots from before a restart of the machine last a window after it at most', async () => {
    await mkdir(dirname(path), { recursive: true });
    const uptimeMs = Number(process.hrtime.bigint()) / 1e6;
    const held = [uptimeMs + 60_000, uptimeMs + 60_000];
    const file = {
      version: 1,
      now: uptimeMs,
      uptimeMs: uptimeMs + 1e9,
      accounts: { project: { held } },
    };
    await writeFile(path, JSON.stringify(file));
    vi.spyOn(process.hrtime, 'bigint').mockReturnValue(30_000_000_000n);
    const store = fileRateBudgetStore(path);
    expect(await store.take('project', limits, leaseMs)).toEqual({ waitMs: 30_000 });
    vi.spyOn(process.hrtime, 'bigint').mockReturnValue(61_000_000_000n);
    await slotOf(store);
  });

  it('does not take what it cannot read for empty', async () => {
    const store = fileRateBudgetStore(path);
    await slotOf(store);
    await rm(path);
    await mkdir(path); // as unreadable as the file of another user, also for root
    await expect(store.take('project', limits, leaseMs)).rejects.toThrow();
    expect((await stat(path)).isDirectory()).toBe(true);
    expect(await readdir(dirname(path))).toEqual(['budget.json']);
  });

  it('follows no link, neither for the file nor for its next version', async () => {
    await mkdir(dirname(path), { recursive: true });
    const target = join(dirname(path), 'precious');
    await writeFile(target, 'not ours');
    await symlink(target, `${path}.next`);
    const store = fileRateBudgetStore(path);
    await slotOf(store);
    await rm(path);
    await symlink(target, path);
    await expect(store.take('project', limits, leaseMs)).rejects.toThrow('ELOOP');
    expect(await readFile(target, 'utf8')).toBe('not ours');
  });

  it('is not stopped by a file of another user beside it', async () => {
    await mkdir(`${path}.next`, { recursive: true }); // cannot be removed as a file
    await slotOf(fileRateBudgetStore(path));
    expect(await readdir(dirname(path))).toEqual(['budget.json', 'budget.json.next']);
  });

  it('writes for its owner alone, and forgets what has expired', async () => {
    const store = fileRateBudgetStore(path);
    await store.release('project', await slotOf(store), limits);
    expect((await stat(path)).mode & 0o077).toBe(0);
    passes(60_000);
    await store.cancel('other', 'nothing');
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ version: 1, accounts: {} });
  });

  it('does many things at once in one go', async () => {
    const store = fileRateBudgetStore(path);
    const many = { ...limits, limit: 1_000 };
    const takes = Array.from({ length: 1_200 }, () => store.take('project', many, leaseMs));
    const answers = await Promise.all(takes);
    expect(answers.filter((answer) => 'slots' in answer)).toHaveLength(1_000);
  });

  it('rejects where it cannot write, and a client then keeps to the limit by itself', async () => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '');
    const store = fileRateBudgetStore(join(path, 'below-a-file.json'));
    await expect(store.take('project', limits, leaseMs)).rejects.toThrow();
    const client = new MessagingClient({
      apiKey: 'sk_test_disk',
      baseUrl: 'https://messaging.test',
      rateLimit: { ...limits, store },
      fetch: () => Promise.resolve(Response.json({ id: 'con_1' })),
    });
    await client.contacts.get('con_1');
    await client.contacts.get('con_2');
    await expect(client.contacts.get('con_3', { deadline: 1_000 })).rejects.toMatchObject({
      name: 'RateLimitError',
      outcome: 'not-sent',
    });
  });

  it('does not hold the key of a client', async () => {
    const client = new MessagingClient({
      apiKey: 'sk_test_secret',
      baseUrl: 'https://messaging.test',
      rateLimit: { store: fileRateBudgetStore(path) },
      fetch: () => Promise.resolve(Response.json({ id: 'con_1' })),
    });
    await client.contacts.get('con_1');
    expect(await readFile(path, 'utf8')).not.toContain('secret');
  });
});

async function slotOf(store: ReturnType<typeof fileRateBudgetStore>): Promise<string> {
  const answer = await store.take('project', limits, leaseMs);
  if ('waitMs' in answer) {
    throw new Error(`no slot for ${answer.waitMs} ms`);
  }
  return answer.slots[0] ?? '';
}

let skippedMs = 0;
const bigint = process.hrtime.bigint.bind(process.hrtime);

/** Only the clock goes on: the disk is a real one. */
function passes(delayMs: number): void {
  skippedMs += delayMs;
  vi.spyOn(process.hrtime, 'bigint').mockImplementation(
    () => bigint() + BigInt(Math.round(skippedMs * 1e6)),
  );
}
