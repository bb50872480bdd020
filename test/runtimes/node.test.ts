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

describe('the packed package', () => {
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

  it.each(['mjs', 'cjs'] as const)(
    'works in a .%s file, and sends no request twice',
    async (kind) => {
      const file = await project.write(`smoke.${kind}`, await programOf(kind, world.services));
      expect(JSON.parse(await project.run(process.execPath, [file]))).toEqual(expected);
      expect(arrivals(world)).toEqual([2, 1]);
    },
  );

  it('includes the command', async () => {
    const command = join(project.package, 'dist/cli.js');
    await expect(project.run(process.execPath, [command])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Usage: postreel') as string,
    });
  });
});
