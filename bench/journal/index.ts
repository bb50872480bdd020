import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fileJournal } from '../../src/node/index.js';
import { fingerprint } from '../../src/core/values.js';
import { bundled } from '../../test/support/node/bundled.js';
import { report, type Rows } from '../report.js';

// A journal of many months: what each process pays that opens it, and what a compaction costs.
const bytes = Number(process.env['BENCH_BYTES'] ?? 1_000_000_000);
const processes = Number(process.env['BENCH_PROCESSES'] ?? 100);

interface Run {
  readonly firstCallMs: number;
  readonly peakBytes: number;
  readonly written: number;
}

const folder = await mkdtemp(join(tmpdir(), 'postreel-bench-journal-'));
const child = await bundled('bench/journal/child.ts');
try {
  const path = join(folder, 'journal.jsonl');
  const keys = await write(path, 1);
  const size = (await stat(path)).size;
  const first = await run(path, 'first');
  const runs = [first];
  for (let index = 1; index < processes; index++) {
    runs.push(await run(path, `process ${index}`));
  }
  const opened: Rows = {
    [`${mb(size)}, ${keys} keys`]: {
      'first call': seconds(first.firstCallMs),
      'peak memory': mb(first.peakBytes),
      [`written by ${processes} processes`]: `${sum(runs.map(({ written }) => written))} bytes`,
    },
  };
  await rm(path);
  await write(path, 3);
  await report({
    title: 'A journal of a gigabyte',
    command: 'npm run bench:journal',
    method:
      'A file of answered keys, each with its claim; each process makes one write. In the second file each answer has changed three times, so it is compacted while the process makes another write every 20 ms.',
    tables: { 'Each process': opened, 'A compaction': await compact(path) },
  });
} finally {
  await child.remove();
  await rm(folder, { recursive: true, force: true });
}

/** Writes a journal with the lines of `once`: a claim and a number of answers for each key. */
async function write(path: string, answers: number): Promise<number> {
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
  return JSON.parse(stdout) as Run; // as the child prints
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
