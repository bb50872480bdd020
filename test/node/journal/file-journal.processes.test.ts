import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileJournal } from 'postreel/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundleScript } from '../../support/node/bundled.js';

const calls = 60;
// Each call writes 20 kB: together far more than the size at which a journal is compacted.
const callBytes = 20_000;
const names = ['first', 'second', 'third', 'fourth'];

let child: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  child = await bundleScript('test/support/node/journal-child.ts');
});
afterAll(() => child.remove());

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-journals-'));
  path = join(folder, 'jobs.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

describe('a journal that several processes share', () => {
  it('loses no entry of any process while they compact it constantly', async () => {
    const printed = (await Promise.all(names.map((name) => append(name)))).flat();
    const items = await fileJournal(path).list('');
    const keys = items.map(({ key }) => key);
    expect(printed).toHaveLength((names.length * calls) / 2);
    expect(keys.filter((key) => !key.endsWith('_short')).sort()).toEqual(printed.sort());
    expect(keys.filter((key) => key.endsWith('_short'))).toHaveLength(names.length * calls);
    expect((await stat(path)).size).toBeLessThan((names.length * calls * callBytes) / 3);
    expect(await readdir(folder)).toEqual(['jobs.jsonl']);
  });

  it('keeps every acknowledged write if the processes are killed at any moment', async () => {
    const printed: string[] = [];
    for (const round of [1, 2, 3, 4, 5]) {
      const killed = names.map((name, index) =>
        append(`${name}_${round}`, 2 + index * 4 + Math.random() * 6),
      );
      printed.push(...(await Promise.all(killed)).flat());
    }
    const known = new Set((await fileJournal(path).list('')).map(({ key }) => key));
    expect(printed.filter((key) => !known.has(key))).toEqual([]);
    // The next process cleans up after the killed ones.
    await append('last');
    expect((await readdir(folder)).filter((name) => name.includes('lock'))).toEqual([]);
  });
});

/**
 * Appends calls in a separate process, killed after `killAfter` lines; the lines name the
 * acknowledged writes.
 */
function append(name: string, killAfter = Infinity): Promise<string[]> {
  const command = [child.path, path, name, String(calls)];
  const running = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const lines = () => output.split('\n').slice(0, -1);
  running.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (lines().length >= killAfter) {
      running.kill('SIGKILL');
    }
  });
  return new Promise((resolve) => {
    running.once('close', () => resolve(lines()));
  });
}
