import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installPackage, type Project } from '../support/package/installed.js';
import {
  arrivals,
  expected,
  openWorld,
  programOf,
  type World,
} from '../support/runtimes/expected.js';

/** The dependencies that Node 20 gets, and those that newer versions get. */
const lines = [
  { ky: '1', 'p-retry': '7', instead: {} },
  { ky: '2', 'p-retry': '9', instead: { ky: 'ky2', 'p-retry': 'p-retry9' } },
];

describe.each(lines)('the packed package with ky $ky and p-retry $p-retry', (line) => {
  let project: Project;
  let world: World;
  beforeAll(async () => {
    project = await installPackage({ instead: line.instead });
  });
  afterAll(() => project.remove());
  beforeEach(async () => {
    world = await openWorld();
  });
  afterEach(() => world.close());

  it.each(['ky', 'p-retry'] as const)('really runs with that major of %s', (name) => {
    const path = join(project.folder, 'node_modules', name, 'package.json');
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string }; // as: a package.json
    expect(version.split('.')[0]).toBe(line[name]);
  });

  it.each(['mjs', 'cjs'] as const)('works in a .%s file, and sends nothing twice', async (kind) => {
    const file = await project.write(`smoke.${kind}`, await programOf(kind, world.services));
    expect(JSON.parse(await project.run(process.execPath, [file]))).toEqual(expected);
    expect(arrivals(world)).toEqual([2, 1]);
  });

  it('brings the command', async () => {
    const command = join(project.package, 'dist/cli.js');
    await expect(project.run(process.execPath, [command])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Usage: postreel') as string,
    });
  });
});
