import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installPackage, repository, type Project } from '../support/package/installed.js';
import {
  arrivals,
  expected,
  openWorld,
  programOf,
  type World,
} from '../support/runtimes/expected.js';

interface Runtime {
  readonly name: string;
  /** Programs that may be it, the best first. */
  readonly commands: readonly string[];
  readonly args?: readonly string[];
}

// Bun comes with `npm ci`; the others are too large, or not to be had everywhere: those on the
// PATH are tested.
const runtimes: readonly Runtime[] = [
  { name: 'Bun', commands: [...bunPrograms(), 'bun'] },
  {
    name: 'Deno',
    commands: ['deno'],
    args: ['run', '--allow-all', '--no-lock', '--node-modules-dir=manual'],
  },
  { name: 'Node 22', commands: ['node22'] },
  { name: 'Node 24', commands: ['node24'] },
];

let project: Project;
let world: World;
beforeAll(async () => {
  project = await installPackage();
});
afterAll(() => project.remove());
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

describe.each(runtimes)('the packed package under $name', ({ name, commands, args = [] }) => {
  const command = commands.find(starts);
  if (command === undefined) {
    console.log(`${name} is not installed here: skipped.`);
  }

  it.skipIf(command === undefined).each(['mjs', 'cjs'] as const)(
    'works in a .%s file, and sends nothing twice',
    async (kind) => {
      const file = await project.write(`smoke.${kind}`, await programOf(kind, world.services));
      const output = await project.run(command ?? '', [...args, file]);
      expect(JSON.parse(output)).toEqual(expected);
      expect(arrivals(world)).toEqual([2, 1]);
    },
  );
});

/** The packages that hold Bun itself: the command of `bun` needs an install script, which we deny. */
function bunPrograms(): string[] {
  const folder = join(repository, 'node_modules/@oven');
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, 'bin/bun')) : [];
}

function starts(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
