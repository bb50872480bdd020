import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const limit = 60;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-budget-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

// Takes slots as fast as it can, and prints one line for each.
const taker = (path: string, slots: number) => `
  import { fileRateBudgetStore } from 'postreel/node';
  const store = fileRateBudgetStore(${JSON.stringify(path)});
  const limits = { limit: ${limit}, windowMs: 600_000, headroom: 0 };
  for (let count = 0; count < ${slots}; count++) {
    const answer = await store.take('project', limits, 720_000);
    if ('waitMs' in answer) break;
    console.log(answer.slots[0]);
    await store.release('project', answer.slots[0], limits);
  }`;

describe('fileRateBudgetStore() between processes', () => {
  it('never gives the same slot to two processes, nor one slot too many', async () => {
    const path = join(folder, 'budget.json');
    const runs = await Promise.all(Array.from({ length: 4 }, () => run(taker(path, limit))));
    const slots = runs.flatMap(({ lines }) => lines);
    expect(slots).toHaveLength(limit);
    expect(new Set(slots).size).toBe(limit);
  });

  it('works as before after some of the processes were killed', async () => {
    const path = join(folder, 'budget.json');
    const killed = await Promise.all(
      [3, 5, 8].map((afterLines) => run(taker(path, limit), afterLines)),
    );
    const before = killed.flatMap(({ lines }) => lines).length;
    const { lines } = await run(taker(path, limit));
    // Each process may have been killed between a slot and its line.
    expect(before + lines.length).toBeLessThanOrEqual(limit);
    expect(before + lines.length).toBeGreaterThanOrEqual(limit - killed.length);
    const { projects } = JSON.parse(await readFile(path, 'utf8')) as { projects: [string][] };
    expect(projects.map(([group]) => group)).toEqual(['project']);
  });
});

/** Runs a script with the built package; kills it after `killAfter` lines. */
function run(script: string, killAfter = Number.POSITIVE_INFINITY) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const linesOf = () => output.split('\n').slice(0, -1);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (linesOf().length >= killAfter) {
      child.kill('SIGKILL');
    }
  });
  return new Promise<{ code: number | null; lines: string[] }>((resolve) => {
    child.on('close', (code) => resolve({ code, lines: linesOf() }));
  });
}
