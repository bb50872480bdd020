import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { check, type Cell } from './check.js';
import { pack } from '../pack.js';
import { projects, type Project } from './table.js';

const help = `Installs real projects with the packed package, and builds and runs them.

npm run projects                    all of them
npm run projects -- next jest       those whose names begin so
npm run projects -- typescript-7:bundler   one row of a project
npm run projects -- --keep next     and leaves their folder for a look`;

const args = process.argv.slice(2);
const names = args.filter((arg) => !arg.startsWith('--'));
const wanted = names.length === 0 ? projects : projects.flatMap(asked);

if (args.includes('--help') || wanted.length === 0) {
  console.log(`${help}\n\n${projects.map(({ name }) => name).join(' ')}`);
  process.exit(args.includes('--help') ? 0 : 2);
}

const started = Date.now();
const base = await mkdtemp(join(tmpdir(), 'postreel-projects-'));
const cells = await checkAll(wanted);
if (args.includes('--keep')) {
  console.log(`\nleft in ${base}`);
} else {
  await rm(base, { recursive: true, force: true });
}
summarize(cells);
process.exitCode = cells.some(({ result }) => result === 'FAILED') ? 1 : 0;

/** The project as far as it is asked for: `next`, or one row of it, `next:edge route`. */
function asked(project: Project): Project[] {
  const asks = names
    .map((name) => name.split(':'))
    .filter(([start = '']) => project.name.startsWith(start));
  const rows = asks.map(([, row]) => row).filter((row) => row !== undefined);
  const isWhole = rows.length < asks.length;
  const kept = project.rows.filter(({ name }) => isWhole || rows.includes(name));
  return asks.length > 0 ? [{ ...project, rows: kept }] : [];
}

/** A few at a time: most of an installation is waiting. */
async function checkAll(list: readonly Project[]): Promise<Cell[]> {
  const tarball = await pack(base);
  const left = [...list];
  const done: Cell[] = [];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const found = await check(next, base, tarball);
      found.forEach(print);
      done.push(...found);
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
  return done;
}

function print({ project, row, result, reason, seconds }: Cell): void {
  const time = `${seconds.toFixed(1)} s`.padStart(8);
  console.log(`${project.padEnd(20)} ${row.padEnd(20)} ${result.padEnd(8)} ${time}  ${reason}`);
}

function summarize(all: readonly Cell[]): void {
  for (const { project, row, reason, output = '' } of all.filter(
    ({ result }) => result === 'FAILED',
  )) {
    console.log(`\nFAILED ${project}, ${row}: ${reason}\n${tail(output)}`);
  }
  const count = (result: Cell['result']) => all.filter((cell) => cell.result === result).length;
  const seconds = Math.round((Date.now() - started) / 1000);
  console.log(`\nin ${seconds} s`);
  // The last line of every suite, which the gate adds up.
  console.log(`${count('passed')} passed, ${count('FAILED')} failed, ${count('skipped')} skipped`);
}

function tail(output: string): string {
  const lines = output.trim().split('\n');
  return lines.slice(-40).join('\n');
}
