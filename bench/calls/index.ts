import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Field, median, type Cost, type Use } from './measure.js';

const all = [
  'undici.request',
  'fetch',
  'ky',
  'axios',
  'ofetch',
  'openai',
  '@anthropic-ai/sdk',
  'resend',
  'stripe',
  '@octokit/request',
  'postreel',
  'postreel, nodeFetch()',
];
const { BENCH_CLIENTS, BENCH_ROUNDS = '15' } = process.env;
const names = BENCH_CLIENTS?.split(';') ?? all;
const uses: readonly Use[] = [
  { title: 'one record', call: 'record', atOnce: 1, count: 400 },
  { title: 'one record, 64 at a time', call: 'record', atOnce: 64, count: 640 },
  { title: 'a page of 100', call: 'page', atOnce: 1, count: 300 },
];

/** The CPU time of a call beside that of a base in the same round: the median of the rounds. */
function ratio(rounds: readonly Map<string, Cost>[], name: string, base: string): string {
  const ratios = rounds.map((costs) => costs.get(name)!.cpuUs / costs.get(base)!.cpuUs);
  return median(ratios).toFixed(2);
}

type Row = readonly [name: string, facts: Record<string, string>];

/** The same table as text that GitHub shows as one. */
function asMarkdown(title: string, rows: readonly Row[]): string {
  const heads = ['', ...Object.keys(rows[0]?.[1] ?? {})];
  const lines = rows.map(([name, facts]) => [name, ...Object.values(facts)]);
  const table = [heads, heads.map((_, index) => (index === 0 ? '---' : '---:')), ...lines];
  return `## ${title}\n\n${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}

const preface = `# Calls

The CPU time of one call, client side, in microseconds, and beside \`fetch\` and ky in the same rounds:
medians of ${BENCH_ROUNDS} rounds, each client in a process of its own, against a service in another one.
Node ${process.versions.node}, ${availableParallelism()} cores. Every client has its defaults; Postreel has its checks, rate budget and retries.
Written by \`npm run bench:calls\`.
`;

const sections: string[] = [];
const field = await Field.open(names);
try {
  for (const use of uses) {
    await field.round(use);
    await field.round(use); // warm
    const rounds: Map<string, Cost>[] = [];
    for (let round = 0; round < Number(BENCH_ROUNDS); round++) {
      rounds.push(await field.round(use));
    }
    const rows = names.map((name): Row => [
      name,
      {
        'CPU, µs': median(rounds.map((costs) => costs.get(name)!.cpuUs)).toFixed(0),
        '× fetch': ratio(rounds, name, 'fetch'),
        '× ky': ratio(rounds, name, 'ky'),
      },
    ]);
    console.log(use.title);
    console.table(Object.fromEntries(rows));
    sections.push(asMarkdown(use.title, rows));
  }
} finally {
  field.close();
}
const results = join(import.meta.dirname, '../results.md');
await writeFile(results, [preface, ...sections].join('\n'));
