/** The limits of the media service, as its document states them ("Limits"). */
export const limits = {
  /** Requests per 10 minutes per API key. */
  requests: { limit: 10, windowMs: 600_000 },
  /** Jobs that may be queued or processing at one time. */
  pendingJobs: 20,
  /** Characters of `content` and `prompt`. */
  textLength: 10_000,
  mediaUrls: 100,
  /** Minutes. */
  duration: { min: 1, max: 15 },
  percentage: { min: 0, max: 100 },
  playbackRate: { min: 0.5, max: 2 },
} as const;

/**
 * The default `timeout` of a paid call, in milliseconds. It is longer than that of other calls: only the
 * response to a paid call names the jobs that were paid for.
 */
export const paidTimeoutMs = 120_000;
