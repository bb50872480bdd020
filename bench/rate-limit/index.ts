import { report, type Rows } from '../report.js';
import { peers, type Limiter } from './limiters.js';
import { ours } from './ours.js';
import { serverKinds, type ServerKind } from './servers.js';
import { simulate, type Outcome } from './simulate.js';
import { workloadKinds, type WorkloadKind } from './workloads.js';

const seeds = [1, 2, 3];
const alone = [1];
const fourProcesses: Readonly<Record<string, readonly number[]>> = {
  'even shares': [0.25, 0.25, 0.25, 0.25],
  'shares of 70, 10, 10, 10 %': [0.7, 0.1, 0.1, 0.1],
};

const tables: Record<string, Rows> = {};
await table('One process', { postreel: ours(), ...peers }, (limiter) =>
  cells(limiter, workloadKinds, alone),
);
for (const [name, shares] of Object.entries(fourProcesses)) {
  const limiters = {
    'postreel, headroom 5 %': ours({ headroom: 0.05 }),
    postreel: ours(),
    ...peers,
  };
  await table(`Four processes that share nothing, ${name}`, limiters, (limiter) =>
    cells(limiter, ['bulk'], shares),
  );
}
await report({
  title: 'Rate limit',
  command: 'npm run bench:rate-limit',
  method: 'Five windows of work, 1000 requests a minute, 20 to 120 ms each way; worst of 3 runs.',
  tables,
});

async function table(
  title: string,
  limiters: Readonly<Record<string, Limiter>>,
  row: (limiter: Limiter) => Promise<Record<string, string>>,
): Promise<void> {
  const rows: Record<string, Record<string, string>> = {};
  for (const [name, limiter] of Object.entries(limiters)) {
    rows[name] = await row(limiter);
  }
  tables[title] = rows;
}

async function cells(
  limiter: Limiter,
  workloads: readonly WorkloadKind[],
  shares: readonly number[],
): Promise<Record<string, string>> {
  const row: Record<string, string> = {};
  for (const server of serverKinds) {
    for (const workload of workloads) {
      row[`${server} ${workload}`] = await cell({ server, workload, shares }, limiter);
    }
  }
  return row;
}

async function cell(
  scene: { server: ServerKind; workload: WorkloadKind; shares: readonly number[] },
  limiter: Limiter,
): Promise<string> {
  const outcomes: Outcome[] = [];
  for (const seed of seeds) {
    outcomes.push(await simulate({ ...scene, seed }, limiter));
  }
  const worst = (read: (outcome: Outcome) => number) => Math.max(...outcomes.map(read));
  const refused =
    scene.shares.length === 1
      ? `${worst(({ refusals }) => refusals)} x 429`
      : `${worst(({ refusedShare }) => refusedShare).toFixed(1)} % met 429`;
  const failures = worst((outcome) => outcome.failures);
  const pace =
    scene.workload === 'poisson'
      ? `${(worst(({ addedWaitMs }) => addedWaitMs) / 1000).toFixed(2)} s added`
      : `${(-worst(({ utilization }) => -utilization)).toFixed(1)} %`;
  return [refused, pace, ...(failures > 0 ? [`${failures} failed`] : [])].join(', ');
}
