import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const limit = 120;

const taker = (path: string) => `
  import { fileRateBudgetStore } from 'postreel/node';
  const store = fileRateBudgetStore(${JSON.stringify(path)});
  const limits = { limit: ${limit}, windowMs: 600_000, headroom: 0 };
  for (let isOpen = true; isOpen;) {
    const answer = await store.take('project', limits, 720_000);
    isOpen = 'slots' in answer;
    if (isOpen) console.log(answer.slots[0]);
  }`;

// A process in a separate PID namespace but with the same hostname, as in a container.
const inContainer = ['unshare', '--pid', '--fork', '--mount-proc'];

it.skipIf(!canContain())(
  'a lock admits one process at a time to a file, also between containers with one hostname (needs unshare)',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'postreel-containers-'));
    const path = join(folder, 'budget.json');
    const runs = await Promise.all(
      [[], inContainer, inContainer].map((prefix) => run(prefix, path)),
    );
    await rm(folder, { recursive: true, force: true });
    const slots = runs.flat();
    expect(slots).toHaveLength(limit);
    expect(new Set(slots).size).toBe(limit);
  },
  60_000,
);

function canContain(): boolean {
  try {
    execFileSync(inContainer[0]!, [...inContainer.slice(1), 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns the slots that one process got. */
function run(prefix: readonly string[], path: string): Promise<string[]> {
  const command = [...prefix, process.execPath, '--input-type=module', '-e', taker(path)];
  const child = spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  return new Promise((resolve) => {
    child.on('close', () => resolve(output.split('\n').slice(0, -1)));
  });
}
