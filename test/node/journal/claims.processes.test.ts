import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileJournal } from 'postreel/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundleScript } from '../../support/node/bundled.js';

const count = 60;
const numbers = Array.from({ length: count }, (_, number) => number);

let child: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  child = await bundleScript('test/support/node/claim-child.ts');
});
afterAll(() => child.remove());

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-claims-'));
  path = join(folder, 'jobs.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the keys of a journal on disk', () => {
  it('go to exactly one of several processes', async () => {
    const claimed = (await Promise.all(['a', 'b', 'c'].map((name) => claim(name)))).flat();
    expect(claimed.sort((a, b) => a - b)).toEqual(numbers);
    expect(await fileJournal(path).list('answer/')).toHaveLength(count);
  });

  it('stay claimed if the process is killed before its answer', async () => {
    const before = await claim('a', 10);
    const after = await claim('b');
    expect(new Set([...before, ...after]).size).toBe(before.length + after.length);
    const journal = fileJournal(path);
    expect(await journal.list('claim/')).toHaveLength(count);
    expect((await journal.list('answer/')).length).toBeGreaterThanOrEqual(count - 1);
  });
});

/**
 * Returns the numbers of the keys that a process claimed; kills the process after `killAfter` of
 * them.
 */
function claim(name: string, killAfter = Number.POSITIVE_INFINITY): Promise<number[]> {
  const running = spawn(process.execPath, [child.path, path, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const numbers = () => output.split('\n').slice(0, -1).map(Number);
  running.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (numbers().length >= killAfter) {
      running.kill('SIGKILL');
    }
  });
  return new Promise((resolve) => {
    running.on('close', () => resolve(numbers()));
  });
}
