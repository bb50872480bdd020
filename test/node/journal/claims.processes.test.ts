import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileJournal } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const count = 60;
const names = Array.from({ length: count }, (_, number) => `queue/${number}`);

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-claims-'));
  path = join(folder, 'jobs.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the names of a queue in a journal on disk', () => {
  it('go to one of several processes each, and none to two', async () => {
    const claimed = (await Promise.all(['a', 'b', 'c'].map((name) => claim(name)))).flat();
    expect(claimed.sort((a, b) => a - b)).toEqual(names.map((_, number) => number));
    const found = await fileJournal(path).find(names);
    expect([...found.values()].filter(({ state }) => state === 'accepted')).toHaveLength(count);
  });

  it('stay claimed when the process is killed before its answer: nobody submits them again', async () => {
    const before = await claim('a', 10);
    const after = await claim('b');
    expect(new Set([...before, ...after]).size).toBe(before.length + after.length);
    const journal = fileJournal(path);
    const found = await journal.find(names);
    expect(found.size).toBe(count);
    const open = [...found.values()].filter(({ state }) => state === 'claimed');
    const { unknown } = await journal.pending();
    expect(open.length).toBeLessThanOrEqual(1);
    expect(unknown.flatMap((intent) => intent.names ?? [])).toHaveLength(open.length);
  });

  it('of an older file, with entries as they were, are known', async () => {
    const at = '2026-11-01T00:00:00.000Z';
    const job = { content: 'Hello', voiceId: 'voice_1' };
    const lines = [
      { type: 'intent', id: 'one', at, jobs: [job], names: ['queue/0'] },
      { type: 'accepted', id: 'one', jobs: [{ fileId: 'file_0', kind: 'audio' }] },
      { type: 'settled', fileId: 'file_0', status: 'success' },
      { type: 'intent', id: 'two', at, jobs: [job], names: ['queue/1'] },
    ];
    const old = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    await writeFile(path, old);
    const claimed = await claim('a');
    expect(claimed).not.toContain(0);
    expect(claimed).not.toContain(1);
    expect(claimed).toHaveLength(count - 2);
    expect((await readFile(path, 'utf8')).startsWith(old)).toBe(true);
    const found = await fileJournal(path).find(['queue/0', 'queue/1']);
    expect(found.get('queue/0')).toMatchObject({ state: 'accepted', job: { fileId: 'file_0' } });
    expect(found.get('queue/1')).toMatchObject({ state: 'claimed', id: 'two' });
  });
});

/** The numbers of the names that a process got; it is killed after so many of them. */
function claim(name: string, killAfter = Number.POSITIVE_INFINITY): Promise<number[]> {
  const script = 'test/support/node/claim-child.mjs';
  const child = spawn(process.execPath, [script, path, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const numbers = () => output.split('\n').slice(0, -1).map(Number);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (numbers().length >= killAfter) {
      child.kill('SIGKILL');
    }
  });
  return new Promise((resolve) => {
    child.on('close', () => resolve(numbers()));
  });
}
