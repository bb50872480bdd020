import type { ClientOptions, RateLimitOptions, ApiKey } from '../core/types.js';

/** The rate limits of a media client. */
export interface MediaRateLimitOptions extends RateLimitOptions {
  /**
   * The most jobs that may be queued or processing at one time.
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
  /** The address of the application, for `job.editorUrl`. */
  appUrl?: string | undefined;
  /** The limits to keep to. With `false` you enforce the rate limit yourself. */
  rateLimit?: MediaRateLimitOptions | false | undefined;
}
