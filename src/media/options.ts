import type { ClientOptions, RateLimitOptions, ApiKey } from '../core/types.js';

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
  /** `false` leaves the rate limit to you. */
  rateLimit?: MediaRateLimitOptions | false | undefined;
}
