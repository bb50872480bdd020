import type { TrackerOptions } from '../options.js';
import type { NativeStorage } from './storage.js';

/**
 * Calls `leave` when the app goes to the background, and `comeBack` when it is shown again. Returns
 * the function that stops it.
 */
export type OnExit = (leave: () => void, comeBack: () => void) => () => void;

/**
 * Options of {@link createNativeTracker}: those of `createTracker`, without what belongs to a
 * browser. Times are in milliseconds.
 */
export interface NativeTrackerOptions extends Omit<TrackerOptions, 'storage' | 'honorGpc'> {
  /** Where events wait: only this app may use it. `memory` ends with the app. */
  readonly storage: NativeStorage | 'memory';
  /** Tells of the life of the app; without it nothing is handed over when the app is left. */
  readonly onExit?: OnExit;
  /** False while there is no network, so that nothing is tried. By default it always is. */
  readonly hasNetwork?: () => boolean;
}
