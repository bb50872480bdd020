import { monotonicMs } from '../../async/clock.js';
import type { RateLimitState } from '../../transport/rate-limit/budget.js';
import { isVideo } from '../generate/media-job.js';
import type { JobInput } from './source.js';

// Ten calls in ten minutes, with some to spare for the end: a call that carries few videos is a call wasted.
const gapMs = 50_000;
// A stream that has been quiet for so long is not about to fill the next call.
const quietMs = 1_000;

/** Says when the next call of a queue makes sense. */
export class QueuePace {
  #nextVideosAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  /** A call with videos leaves. */
  handInVideos(): void {
    this.#nextVideosAt = monotonicMs() + gapMs;
  }

  /** A call was refused for now. */
  pause(): void {
    this.#pausedUntil = monotonicMs() + gapMs;
  }

  /** Milliseconds until the next call; at most 0 for now. */
  delayMs(
    { next, lastReadAt }: JobInput,
    isFilling: boolean,
    { resetsAt }: Partial<RateLimitState> = {},
  ): number {
    const now = monotonicMs();
    const untilFree = resetsAt ? resetsAt.getTime() - Date.now() : 0;
    const untilQuiet = isFilling ? lastReadAt + quietMs - now : 0;
    // A text goes by itself: no other would fill its call.
    const untilVideos = next && isVideo(next.input) ? this.#nextVideosAt - now : 0;
    return Math.max(untilFree, untilQuiet, untilVideos, this.#pausedUntil - now);
  }
}
