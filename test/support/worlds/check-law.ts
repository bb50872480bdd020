import type { TestContext } from 'vitest';
import { knownFaults } from './known-faults.js';
import type { Law } from './law.js';
import { isWhole, type World } from './worlds.js';

/** Checks a law in a world; where a fault of the client is known, the test says so and is skipped. */
export async function checkLaw<Scene>(
  law: Law<Scene>,
  { scene, world }: { readonly scene: Scene; readonly world: World },
  { skip }: Pick<TestContext, 'skip'>,
): Promise<void> {
  const fault = knownFaults.find(
    ({ setting, values, laws }) =>
      values.includes(world[setting]) && laws.some((start) => law.name.startsWith(start)),
  );
  const isMended = await law.holds(scene).then(
    () => true,
    (error: unknown) => {
      if (fault === undefined) {
        throw error;
      }
      return false;
    },
  );
  if (!isMended) {
    skip(`known fault: ${fault?.why ?? ''}`);
  }
  if (fault !== undefined && isWhole && Object.keys(world).length === 1) {
    throw new Error(`Mended: take ${JSON.stringify(world)} off the list of known faults.`);
  }
}
