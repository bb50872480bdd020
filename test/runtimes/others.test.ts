import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installPackage, type Project } from '../support/package/installed.js';
import {
  arrivals,
  expected,
  openWorld,
  programOf,
  type World,
} from '../support/runtimes/expected.js';
import { argumentsOf, findRuntime, newest } from '../support/runtimes/runtimes.js';

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

describe.each(newest)('the packed package on $name $version', (runtime) => {
  it.for(['mjs', 'cjs'] as const)(
    'works in a .%s file, and sends no request twice',
    async (kind, { skip }) => {
      const found = await findRuntime(runtime);
      const command = 'missing' in found ? skip(found.missing) : found.command;
      const file = await project.write(`smoke.${kind}`, await programOf(kind, world.services));
      const output = await project.run(command, [...argumentsOf(runtime), file]);
      expect(JSON.parse(output)).toEqual(expected);
      expect(arrivals(world)).toEqual([2, 1]);
    },
  );
});
