import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { median, report, type Rows } from '../report.js';

// Each start is a separate process, so that no code is loaded or compiled before.
const names = ['ky', 'axios', 'ofetch', 'openai', '@anthropic-ai/sdk', 'resend', 'stripe'];
const all = [...names, '@octokit/request', 'postreel'];
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 21);

interface Start {
  readonly importMs: number;
  readonly firstCallMs: number;
}

const service = fork(join(import.meta.dirname, '../calls/service.mjs'));
const [port] = (await once(service, 'message')) as [number];
const starts = new Map<string, Start[]>(all.map((name) => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const [name, found] of starts) {
    found.push(await start(name));
  }
}
service.kill();
await report({
  title: 'Start',
  command: 'npm run bench:start',
  method: `The CPU time of the import, and of the import with a client and its first call, of fresh processes: medians of ${rounds} interleaved rounds, the service in a process of its own.`,
  tables: { 'From nothing to the first answer': rowsOf() },
});

async function start(name: string): Promise<Start> {
  const probe = join(import.meta.dirname, 'probe.mjs');
  const args = [probe, name, `http://127.0.0.1:${port}`];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Start; // as: the probe prints it
}

function rowsOf(): Rows {
  const relativeTo = (name: string, base: string, what: keyof Start) =>
    median(starts.get(name)!.map((one, round) => one[what] / starts.get(base)![round]![what]));
  return Object.fromEntries(
    all.map((name) => [
      name,
      {
        'import, ms': median(starts.get(name)!.map(({ importMs }) => importMs)).toFixed(0),
        '× ky': relativeTo(name, 'ky', 'importMs').toFixed(2),
        '× openai': relativeTo(name, 'openai', 'importMs').toFixed(2),
        'with a first call, ms': median(
          starts.get(name)!.map(({ firstCallMs }) => firstCallMs),
        ).toFixed(0),
        'with a first call, × ky': relativeTo(name, 'ky', 'firstCallMs').toFixed(2),
      },
    ]),
  );
}
