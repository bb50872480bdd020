import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const file = join(import.meta.dirname, 'results.md');

/** The names of rows and their figures. */
export type Rows = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The result of a bench. */
export interface Report {
  readonly title: string;
  /** The command that repeats the measurement. */
  readonly command: string;
  /** The method of the measurement. */
  readonly method: string;
  readonly tables: Readonly<Record<string, Rows>>;
}

/** Prints the tables of a bench and puts them into their section of `bench/results.md`. */
export async function report({ title, command, method, tables }: Report): Promise<void> {
  const sections = Object.entries(tables).map(([name, rows]) => {
    console.log(name);
    console.table(rows);
    return `### ${name}\n\n${asMarkdown(rows)}`;
  });
  const day = new Date().toISOString().slice(0, 10);
  const machine = `Node ${process.versions.node}, ${availableParallelism()} cores, ${day}.`;
  const text = [`## ${title}`, `${method} ${machine} \`${command}\` measures again.`, ...sections];
  await replaceSection(title, `${text.join('\n\n')}\n`);
}

async function replaceSection(title: string, section: string): Promise<void> {
  const old = await readFile(file, 'utf8').catch(() => '# What the benches measured\n');
  const [preface = '', ...others] = old.split(/^(?=## )/m);
  const kept = others.filter((one) => !one.startsWith(`## ${title}\n`));
  const all = [...kept.map((one) => one.trimEnd() + '\n'), section].sort();
  await writeFile(file, [preface.trimEnd() + '\n', ...all].join('\n'));
}

function asMarkdown(rows: Rows): string {
  const heads = Object.keys(Object.values(rows)[0] ?? {});
  const lines = Object.entries(rows).map(([name, facts]) => [name, ...Object.values(facts)]);
  const table = [['', ...heads], ['---', ...heads.map(() => '---:')], ...lines];
  return table.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The median of the numbers. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}
