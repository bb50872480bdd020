import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { projects } from '../../scripts/projects/table.js';
import { entryPoints, repository } from '../support/package/installed.js';

const execute = promisify(execFile);
const maxMs = 300_000;

// `npm run projects` runs all of them.
it(
  'the smallest projects install, build and run from the packed package',
  async () => {
    const args = ['tsx', 'scripts/projects/index.ts', 'plain-cjs', 'typescript-5.4:node10'];
    const { stdout } = await execute('npx', args, { cwd: repository, timeout: maxMs });
    // The plain line that the gate adds up. A machine without a network skips all.
    expect(stdout).toMatch(/^\d+ passed, 0 failed, \d+ skipped\n$(?![^])/m);
  },
  maxMs,
);

it('each project has a name of its own, and names of rows that differ', () => {
  const names = projects.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { rows } of projects) {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  }
});

it('the TypeScript project reads every entry point that needs no peer', () => {
  const text = readFileSync(`${repository}/test/projects/typescript/doors.ts`, 'utf8');
  const read = [...text.matchAll(/from '(.+)'/g)].map(([, entryPoint]) => entryPoint);
  // That of OpenTelemetry names types of its peer, which the project has not.
  expect(read).toEqual(entryPoints.filter((entryPoint) => !entryPoint.endsWith('/otel')));
});
