import type { Tab } from '../tab.js';
import type { TrackerStats } from '../types.js';

/** Counts an event for `stats()`. */
export const count = ({ counts }: Tab, name: keyof TrackerStats): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};
