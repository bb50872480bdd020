import type { TrackerOptions } from '../options.js';

/** The pace of one tab: so many requests at once, then so many a second. */
export interface Pace {
  readonly hasSlot: () => boolean;
  /** Counts a request. */
  readonly take: () => void;
}

export const createPace = ({ limit }: Pick<TrackerOptions, 'limit'>): Pace => {
  const { perSecond = 5, burst = 20 } = limit ?? {};
  let slots = burst;
  return {
    hasSlot: () => slots > 0,
    take: () => {
      slots--;
      setTimeout(() => slots++, (1000 * burst) / perSecond);
    },
  };
};
