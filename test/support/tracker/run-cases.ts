import { afterAll, beforeAll, it } from 'vitest';
import { type Profile, openProfile } from './browser.js';
import { type Case, DEFAULT } from './cases/case.js';
import { type Figures, createWorld } from './world.js';

const print = (figures: Figures, name: string) => console.log(name, JSON.stringify(figures));

/** Runs each case once, on a site of its own: those that allow it side by side, in one browser. */
export function describeCases(engine: 'chromium' | 'firefox', cases: readonly Case[]): void {
  let profile: Profile;
  beforeAll(async () => {
    profile = await openProfile(engine);
  }, 180_000);
  afterAll(() => profile.close(), 60_000);

  for (const { name, run, deliveries = DEFAULT, isAlone } of cases) {
    const options = { timeout: 240_000, concurrent: !isAlone };
    for (const delivery of deliveries) {
      it(`${name} (${delivery})`, options, async () => {
        const world = await createWorld(profile, delivery, print);
        try {
          await run(world);
        } finally {
          await world.close();
        }
      });
    }
  }
}
