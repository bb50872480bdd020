import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fileJournal } from '../../src/node/index.js';
import { fingerprint } from '../../src/core/fingerprint.js';
import { bundleScript } from '../../test/support/node/bundled.js';
import { median, report, type Rows } from '../report.js';

// A journal of many months: the cost for each process that opens it, and the cost of a compaction.
const sizes = [
  { bytes: 100_000_000, processes: 100 },
  { bytes: 1_000_000_000, processes: 5 },
];

interface Run {
  readonly firstCallMs: number;
  readonly peakBytes: number;
  readonly written: number;
}

const folder = await mkdtemp(join(tmpdir(), 'postreel-bench-journal-'));
const child = await bundleScript('bench/journal/child.ts');
try {
  const path = join(folder, 'journal.jsonl');
  const opened: Record<string, Rows[string]> = {};
  for (const { bytes, processes } of sizes) {
    const keys = await write(path, { bytes, answers: 1 });
    const runs: Run[] = [];
    for (let index = 0; index < processes; index++) {
      runs.push(await run(path, `process ${index}`));
    }
    opened[`${mb(bytes)}, ${keys.toLocaleString('en')} keys`] = {
      processes: String(processes),
      'first call': seconds(median(runs.map(({ firstCallMs }) => firstCallMs))),
      'peak memory': mb(median(runs.map(({ peakBytes }) => peakBytes))),
      'all have written': `${sum(runs.map(({ written }) => written))} bytes`,
    };
    await rm(path);
  }
  await write(path, { bytes: 1_000_000_000, answers: 3 });
  await report({
    title: 'A journal of a gigabyte',
    command: 'npm run bench:journal',
    method:
      'A file of answered keys, each with its claim; each process makes one write; times and memory are medians, and the bytes include the wake-ups of threads. The machine was busy with other work. In the second file each answer has changed three times, so it is compacted while the process makes another write every 20 ms.',
    tables: { 'Each process': opened, 'A compaction': await compact(path) },
  });
} finally {
  await child.remove();
  await rm(folder, { recursive: true, force: true });
}

/** Writes a journal with the lines of `once`: a claim and a number of answers for each key. */
async function write(
  path: string,
  { bytes, answers }: { readonly bytes: number; readonly answers: number },
): Promise<number> {
  const file = createWriteStream(path);
  file.write('["file","of the bench"]\n');
  let keys = 0;
  for (let size = 0; size < bytes;) {
    const id = crypto.randomUUID();
    const base = { id, key: `receipt/${keys}`, call: 'POST /v1/send', print: fingerprint(id) };
    const values = [
      JSON.stringify({ state: 'claimed', ...base, limitMs: 60_000 }),
      ...Array.from({ length: answers }, (_, index) =>
        JSON.stringify({ state: 'answered', ...base, answer: { emails: [{ email: id, index }] } }),
      ),
    ];
    const key = `once/${base.print}/${keys++}`;
    const lines = values.map((value, index) => {
      const from = index === 0 ? null : fingerprint(values[index - 1] ?? '');
      return `${JSON.stringify(['swap', key, from, value, Date.now()])}\n`;
    });
    const text = lines.join('');
    size += text.length;
    if (!file.write(text)) {
      await once(file, 'drain');
    }
  }
  file.end();
  await once(file, 'finish');
  return keys;
}

async function run(path: string, key: string): Promise<Run> {
  const args = ['--max-old-space-size=8000', child.path, path, key];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Run; // as: the child prints it
}

async function compact(path: string): Promise<Rows> {
  const journal = fileJournal(path);
  const before = (await stat(path)).size;
  await journal.swap('first', undefined, '1');
  const startedAt = performance.now();
  let longestMs = 0;
  let calls = 0;
  while ((await stat(path)).size > before / 1.5) {
    const at = performance.now();
    await journal.swap(`during ${calls++}`, undefined, '1');
    longestMs = Math.max(longestMs, performance.now() - at);
    await sleep(20);
  }
  return {
    [`${mb(before)} to ${mb((await stat(path)).size)}`]: {
      'it took': seconds(performance.now() - startedAt),
      'writes in the meantime': String(calls),
      'longest of them': `${Math.round(longestMs)} ms`,
    },
  };
}

function sum(numbers: readonly number[]): string {
  return numbers.reduce((total, one) => total + one, 0).toLocaleString('en');
}

function mb(size: number): string {
  return `${Math.round(size / 1e6)} MB`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
