import type { Engine } from '../browser.js';
import type { Delivery, World } from '../world.js';

/** One thing that happens to a page, as every engine has to survive it. */
export interface Case {
  /** A sentence, said of the tracker. */
  readonly name: string;
  /** Rejects where a promise is broken. Each run has an origin of its own. */
  readonly run: (world: World) => Promise<void>;
  /** {@link BOTH} where the two differ. */
  readonly deliveries?: readonly Delivery[];
  /** Where an engine, or its driver, lacks something. */
  readonly engines?: readonly Engine[];
  /** Kills the browser or takes its network away: nothing else may run in it meanwhile. */
  readonly isAlone?: true;
}

export const DEFAULT: readonly Delivery[] = ['no-duplicates'];
export const BOTH: readonly Delivery[] = ['no-duplicates', 'no-loss'];
