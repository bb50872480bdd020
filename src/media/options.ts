import type { ClientOptions, RateLimitOptions, ApiKey } from '../core/types.js';
import type { JournalStore } from '../journal/store.js';

/** How a media client keeps to the service's limits. */
export interface MediaRateLimitOptions extends RateLimitOptions {
  /**
   * How many jobs may be queued or processing at one time.
   * @default 20
   */
  pending?: number | undefined;
}

/** Options of a media client. */
export interface MediaOptions extends Omit<ClientOptions, 'rateLimit'> {
  /**
   * The key, or a function that fetches one.
   * @default the environment's MEDIA_API_KEY
   */
  apiKey?: ApiKey | undefined;
  /** The application's address, for `job.editorUrl`. */
  appUrl?: string | undefined;
  /** Records jobs before and after they are submitted, so that a crash loses none. */
  journal?: JournalStore | undefined;
  /**
   * How long the journal keeps jobs whose file is saved, failed or dismissed, in milliseconds. A named
   * queue remembers them for so long; after that it would submit them again.
   * @default 2_592_000_000 (30 days)
   */
  keepSettled?: number | undefined;
  /**
   * Merges calls of `generate.video()` that are made in the same tick for the same folder.
   * @default false
   */
  coalesce?: boolean | undefined;
  /** `false` leaves the rate limit to you. */
  rateLimit?: MediaRateLimitOptions | false | undefined;
}
