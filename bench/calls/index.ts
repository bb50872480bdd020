import { median, report, type Rows } from '../report.js';
import { Field, type Cost, type Use } from './measure.js';

const all = [
  'undici.request',
  'fetch',
  'fetch with a timeout',
  'ky',
  'axios',
  'ofetch',
  'openai',
  '@anthropic-ai/sdk',
  'resend',
  'stripe',
  '@octokit/request',
  'postreel',
  'postreel, answers checked',
];
const { BENCH_CLIENTS, BENCH_ROUNDS = '15' } = process.env;
const names = BENCH_CLIENTS?.split(';') ?? all;
const uses: readonly Use[] = [
  { title: 'One record', call: 'record', atOnce: 1, count: 400 },
  { title: 'One record, 64 at a time', call: 'record', atOnce: 64, count: 640 },
  { title: 'A page of 100', call: 'page', atOnce: 1, count: 300 },
  // The cost of a call must not grow with the number of concurrent calls.
  { title: 'One record, 50 at a time', call: 'record', atOnce: 50, count: 1_000 },
  { title: 'One record, 1000 at a time', call: 'record', atOnce: 1_000, count: 1_000 },
];
/** Rounds that do not count: the engine still compiles. */
const warmRounds = 5;

const field = await Field.open(names);
const tables: Record<string, Rows> = {};
try {
  for (const use of uses) {
    tables[use.title] = await measure(use);
  }
} finally {
  field.close();
}
await report({
  title: 'Calls',
  command: 'npm run bench:calls',
  method: `The CPU time of one call, client side, and beside \`fetch\` and ky in the same rounds: medians of ${BENCH_ROUNDS} interleaved rounds after ${warmRounds} to warm up, each client in a process of its own, the service in another one. Every client has its defaults; Postreel has its checks of requests, rate budget and retries, and those of answers where the row says so.`,
  tables,
});

async function measure(use: Use): Promise<Rows> {
  const rounds: Map<string, Cost>[] = [];
  for (let round = -warmRounds; round < Number(BENCH_ROUNDS); round++) {
    const costs = await field.round(use);
    if (round >= 0) {
      rounds.push(costs);
    }
  }
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        'CPU, µs': median(rounds.map((costs) => costs.get(name)!.cpuUs)).toFixed(0),
        '× fetch': ratio(rounds, name, 'fetch'),
        '× ky': ratio(rounds, name, 'ky'),
      },
    ]),
  );
}

/** The CPU time of a call relative to a base client in the same round: the median of the rounds. */
function ratio(rounds: readonly Map<string, Cost>[], name: string, base: string): string {
  const ratios = rounds.map((costs) => costs.get(name)!.cpuUs / costs.get(base)!.cpuUs);
  return median(ratios).toFixed(2);
}
