import type { Engine } from '../browser.js';
import type { Delivery, World } from '../world.js';

/** One event in the life of a page that the tracker has to handle in every engine. */
export interface Case {
  /** A sentence whose subject is the tracker. */
  readonly name: string;
  /** Rejects if a promise is broken. Each run has a separate origin. */
  readonly run: (world: World) => Promise<void>;
  /** {@link BOTH} if the two modes differ. */
  readonly deliveries?: readonly Delivery[];
  /** The engines that can run the case, if an engine or its driver lacks something. */
  readonly engines?: readonly Engine[];
  /** Kills the browser or disconnects its network: no other case may run in it at the same time. */
  readonly isExclusive?: true;
}

export const DEFAULT: readonly Delivery[] = ['no-duplicates'];
export const BOTH: readonly Delivery[] = ['no-duplicates', 'no-loss'];
